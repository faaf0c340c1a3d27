import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  type S3Client,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { multipartUploads, partsOf } from './multipart.ts';

/** How an object is copied; the defaults suit a request, which has 29 s. */
export interface CopySizes {
  /** Up to this many bytes are copied in one step, of which S3 takes at most 5 GB. */
  wholeBytes: number;
  partBytes: number;
  /** Parts that storage copies at the same moment. */
  atOnce: number;
}

const mebibyte = 1024 ** 2;
const usual: CopySizes = { wholeBytes: 512 * mebibyte, partBytes: 256 * mebibyte, atOnce: 16 };

/**
 * Copy an object within the bucket, without a download. A large one is copied in many parts at the same time, because
 * a single copy does about 100 MB a second.
 * @throws NotFound of the SDK where there is no such object
 */
export async function copyInParts(
  client: S3Client,
  Bucket: string,
  from: string,
  to: string,
  { wholeBytes, partBytes, atOnce }: CopySizes = usual,
): Promise<void> {
  const CopySource = `${Bucket}/${from.split('/').map(encodeURIComponent).join('/')}`;
  const { ContentLength: size = 0, ETag } = await client.send(new HeadObjectCommand({ Bucket, Key: from }));
  // The source is the one whose size was read, or the copy fails.
  const same = ETag === undefined ? {} : { CopySourceIfMatch: ETag };
  if (size <= wholeBytes) {
    await client.send(new CopyObjectCommand({ Bucket, Key: to, CopySource, ...same }));
    return;
  }
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: to }));
  if (UploadId === undefined) throw new Error('storage began an upload without an id');
  try {
    const waiting = partsOf(size, partBytes);
    const copied: { PartNumber: number; ETag: string | undefined }[] = [];
    const worker = async (): Promise<void> => {
      for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
        const { part_number: PartNumber, size: bytes } = part;
        const first = (PartNumber - 1) * partBytes;
        const CopySourceRange = `bytes=${first}-${first + bytes - 1}`;
        const answer = await client.send(
          new UploadPartCopyCommand({
            Bucket,
            Key: to,
            UploadId,
            PartNumber,
            CopySource,
            CopySourceRange,
            ...same,
          }),
        );
        copied.push({ PartNumber, ETag: answer.CopyPartResult?.ETag });
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    const Parts = copied.sort((one, other) => one.PartNumber - other.PartNumber);
    await client.send(
      new CompleteMultipartUploadCommand({ Bucket, Key: to, UploadId, MultipartUpload: { Parts } }),
    );
  } catch (error) {
    await multipartUploads(client, Bucket).abortParts(to, UploadId);
    throw error;
  }
}

import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  type S3Client,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { inLanes } from '../core/in-lanes.ts';
import { multipartUploads, partsOf } from './multipart.ts';

/** Sizes of a copy. The defaults suit a request, which has 29 s. */
export interface CopySizes {
  /** Objects up to this many bytes are copied in one request. S3 allows at most 5 GB. */
  wholeBytes: number;
  partBytes: number;
  /** Parts that S3 copies at the same time. */
  atOnce: number;
}

const mebibyte = 1024 ** 2;
const usual: CopySizes = { wholeBytes: 512 * mebibyte, partBytes: 256 * mebibyte, atOnce: 16 };

/**
 * Copy an object within the bucket without downloading it. A large object is copied in parallel parts, because a
 * single copy transfers about 100 MB per second.
 * @throws NotFound of the SDK if the object does not exist
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
  // The copy fails if the source has changed since its size was read.
  const same = ETag === undefined ? {} : { CopySourceIfMatch: ETag };
  if (size <= wholeBytes) {
    await client.send(new CopyObjectCommand({ Bucket, Key: to, CopySource, ...same }));
    return;
  }
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: to }));
  if (UploadId === undefined) throw new Error('storage began an upload without an id');
  try {
    const Parts = await inLanes(
      partsOf(size, partBytes),
      atOnce,
      async ({ part_number: PartNumber, size: bytes }) => {
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
        return { PartNumber, ETag: answer.CopyPartResult?.ETag };
      },
    );
    await client.send(
      new CompleteMultipartUploadCommand({ Bucket, Key: to, UploadId, MultipartUpload: { Parts } }),
    );
  } catch (error) {
    await multipartUploads(client, Bucket).abortParts(to, UploadId);
    throw error;
  }
}

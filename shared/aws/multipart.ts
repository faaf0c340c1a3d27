import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListPartsCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { uploadSeconds } from './upload-seconds.ts';

/** One part of a multipart upload, numbered from 1. */
export interface UploadPart {
  part_number: number;
  /** Offset of its first byte in the file. */
  offset: number;
  size: number;
}

export interface PresignedPart extends UploadPart {
  url: string;
  method: 'PUT';
  /** Headers that the client must send unchanged, because the signature covers them. */
  headers: Record<string, string>;
}

/** S3 multipart uploads whose parts clients send. */
export interface MultipartUploads {
  /** Begin an upload and return its id. */
  startParts(key: string): Promise<string>;
  /** Put a part. A second put replaces the first. */
  putPart(key: string, uploadId: string, partNumber: number, bytes: Uint8Array): Promise<void>;
  /** Presign URLs for these parts, each for exactly its size. They are valid for `uploadSeconds`. */
  presignParts(key: string, uploadId: string, parts: readonly UploadPart[]): Promise<PresignedPart[]>;
  /** Presign URLs for `parts` parts of any size that S3 accepts. They are valid for `uploadSeconds`. */
  presignAnyParts(key: string, uploadId: string, parts: number): Promise<string[]>;
  /**
   * Complete the upload of these parts and return their total bytes. If parts are missing, return their numbers
   * and change nothing. Return undefined if the upload does not exist: it was completed or aborted.
   * @param most maximum bytes; a larger upload is refused before it becomes an object
   */
  completeAnyParts(
    key: string,
    uploadId: string,
    numbers: readonly number[],
    most: number,
  ): Promise<{ bytes: number } | { missing: number[] } | { tooLarge: number } | undefined>;
  /**
   * Return the parts that are missing or have another size. Return undefined if the upload does not exist: it was
   * completed or aborted.
   */
  missingParts(
    key: string,
    uploadId: string,
    parts: readonly UploadPart[],
  ): Promise<UploadPart[] | undefined>;
  /**
   * Complete the upload if all parts have arrived with their sizes. Otherwise return the numbers of the other
   * parts and change nothing. Return undefined if the upload does not exist: it was completed or aborted.
   */
  completeParts(
    key: string,
    uploadId: string,
    parts: readonly Omit<UploadPart, 'offset'>[],
  ): Promise<number[] | undefined>;
  /** Abort an upload. Does nothing if it does not exist. */
  abortParts(key: string, uploadId: string): Promise<void>;
}

const mebibyte = 1024 ** 2;
/** Smallest part in bytes, and maximum number of parts of a file. A response contains the URL of every part. */
const minPartBytes = 16 * mebibyte;
const maxParts = 1000;

/** Part size for a file of `size` bytes. The last part may be smaller. */
export const partBytesFor = (size: number): number =>
  Math.max(minPartBytes, Math.ceil(size / maxParts / mebibyte) * mebibyte);

/** Split an upload of `size` bytes into parts of `partBytes`. The last part may be smaller. */
export function partsOf(size: number, partBytes: number): UploadPart[] {
  return Array.from({ length: Math.ceil(size / partBytes) }, (_, index) => ({
    part_number: index + 1,
    offset: index * partBytes,
    size: Math.min(partBytes, size - index * partBytes),
  }));
}

const missingOf = <P extends Omit<UploadPart, 'offset'>>(
  parts: readonly P[],
  found: ReadonlyMap<number, { size: number }>,
): P[] => parts.filter(({ part_number, size }) => found.get(part_number)?.size !== size);

const isGone = (error: unknown): boolean => error instanceof Error && error.name === 'NoSuchUpload';

function headersOf(request: unknown): Record<string, unknown> {
  const isRequest = typeof request === 'object' && request !== null && 'headers' in request;
  const headers = isRequest ? request.headers : undefined;
  if (typeof headers !== 'object' || headers === null) throw new Error('a request without headers');
  return Object.fromEntries(Object.entries(headers));
}

/**
 * Remove the checksum that the SDK adds by default. S3 refuses a part's checksum if the upload has declared none.
 * For a presigned part the SDK would sign the checksum of an empty body.
 */
function withoutChecksum(command: UploadPartCommand): UploadPartCommand {
  command.middlewareStack.add(
    (next) => (args) => {
      const kept = Object.entries(headersOf(args.request)).filter(
        ([name]) => !/^x-amz-(sdk-)?checksum-/.test(name),
      );
      if (typeof args.request === 'object' && args.request !== null)
        Object.assign(args.request, { headers: Object.fromEntries(kept) });
      return next(args);
    },
    { step: 'build', priority: 'low', name: 'withoutChecksum' },
  );
  return command;
}

/** Multipart uploads to the bucket. */
export function multipartUploads(client: S3Client, Bucket: string, ofUrls = client): MultipartUploads {
  async function arrived(
    Key: string,
    UploadId: string,
  ): Promise<Map<number, CompletedPart & { size: number }>> {
    const found = new Map<number, CompletedPart & { size: number }>();
    let marker: string | undefined;
    do {
      const page = await client.send(
        new ListPartsCommand({
          Bucket,
          Key,
          UploadId,
          ...(marker !== undefined && { PartNumberMarker: marker }),
        }),
      );
      for (const { PartNumber, ETag, Size } of page.Parts ?? []) {
        if (PartNumber !== undefined) found.set(PartNumber, { PartNumber, ETag, size: Size ?? 0 });
      }
      marker = page.IsTruncated === true ? page.NextPartNumberMarker : undefined;
    } while (marker !== undefined);
    return found;
  }

  return {
    async startParts(Key) {
      const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
      if (UploadId === undefined) throw new Error('storage began an upload without an id');
      return UploadId;
    },

    async putPart(Key, UploadId, PartNumber, Body) {
      // The request's signature covers the hash of the body, so S3 verifies it.
      await client.send(withoutChecksum(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body })));
    },

    presignParts(Key, UploadId, parts) {
      return Promise.all(
        parts.map(async ({ part_number, offset, size }): Promise<PresignedPart> => {
          const command = new UploadPartCommand({
            Bucket,
            Key,
            UploadId,
            PartNumber: part_number,
            ContentLength: size,
          });
          const url = await getSignedUrl(ofUrls, withoutChecksum(command), {
            expiresIn: uploadSeconds,
            signableHeaders: new Set(['content-length', 'host']),
          });
          const headers = { 'content-length': String(size) };
          return { part_number, offset, size, url, method: 'PUT', headers };
        }),
      );
    },

    presignAnyParts(Key, UploadId, parts) {
      return Promise.all(
        Array.from({ length: parts }, (_, index) => {
          const command = new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: index + 1 });
          return getSignedUrl(ofUrls, withoutChecksum(command), {
            expiresIn: uploadSeconds,
            signableHeaders: new Set(['host']),
          });
        }),
      );
    },

    async completeAnyParts(Key, UploadId, numbers, most) {
      try {
        const found = await arrived(Key, UploadId);
        const missing = numbers.filter((number) => !found.has(number));
        if (missing.length > 0) return { missing };
        const parts = numbers.flatMap((number) => found.get(number) ?? []);
        const bytes = parts.reduce((sum, { size }) => sum + size, 0);
        if (bytes > most) return { tooLarge: bytes };
        const Parts = parts.map(({ PartNumber, ETag }) => ({ PartNumber, ETag }));
        await client.send(
          new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }),
        );
        return { bytes };
      } catch (error) {
        if (isGone(error)) return undefined;
        throw error;
      }
    },

    async missingParts(Key, UploadId, parts) {
      try {
        return missingOf(parts, await arrived(Key, UploadId));
      } catch (error) {
        if (isGone(error)) return undefined;
        throw error;
      }
    },

    async completeParts(Key, UploadId, parts) {
      try {
        const found = await arrived(Key, UploadId);
        const missing = missingOf(parts, found);
        if (missing.length > 0) return missing.map(({ part_number }) => part_number);
        const Parts = parts.map(({ part_number }) => ({
          PartNumber: part_number,
          ETag: found.get(part_number)?.ETag,
        }));
        await client.send(
          new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }),
        );
        return [];
      } catch (error) {
        if (isGone(error)) return undefined;
        throw error;
      }
    },

    async abortParts(Key, UploadId) {
      try {
        await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
      } catch (error) {
        if (!isGone(error)) throw error;
      }
    },
  };
}

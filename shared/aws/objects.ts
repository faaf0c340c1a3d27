import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { copyInParts } from './copy-in-parts.ts';
import { type MultipartUploads, multipartUploads } from './multipart.ts';
import { uploadSeconds } from './upload-seconds.ts';

export interface ObjectHead {
  size: number;
  /** SHA-256 of the whole object in hexadecimal; undefined if it was stored without one. */
  sha256: string | undefined;
}

export interface ObjectPage {
  objects: { key: string; size: number }[];
  /** Key after which the next page starts; undefined on the last page. */
  next: string | undefined;
}

export interface PresignedUpload {
  url: string;
  method: 'PUT';
  /** Headers that the client must send unchanged, because the signature covers them. */
  headers: Record<string, string>;
  /** Seconds until the URL expires. */
  expires_in: number;
}

/** An object's content as a stream. */
export interface ObjectStream {
  body: Readable;
  /** Bytes of the whole object. */
  size: number;
  etag: string | undefined;
}

/** URLs of one object by request method. The signature covers the method. */
export interface PresignedDownload {
  GET: string;
  HEAD: string;
}

/** Reader of the bucket. */
export interface ObjectReader {
  head(key: string): Promise<ObjectHead | undefined>;
  /**
   * Return the object's bytes, or the range from `first` to `last` inclusive; undefined if the object does not
   * exist.
   */
  read(key: string, range?: { first: number; last: number }): Promise<Readable | undefined>;
  /**
   * Return the object's bytes starting at `from`; undefined if the object does not exist. With an `etag`, read
   * only this version: S3 returns 412 for another one.
   */
  open(
    key: string,
    at: { from: number; etag?: string; signal?: AbortSignal },
  ): Promise<ObjectStream | undefined>;
  list(prefix: string, after?: string): Promise<ObjectPage>;
  /** Presign download URLs of the object under this file name. They need no credentials and expire. */
  presignDownload(
    key: string,
    fileName: string,
    mediaType: string,
    disposition?: 'attachment' | 'inline',
  ): Promise<PresignedDownload>;
}

/** Reader and writer of the bucket. */
export interface ObjectWriter extends ObjectReader, MultipartUploads {
  put(key: string, bytes: Uint8Array, mediaType: string): Promise<void>;
  /** Upload a file of any size with bounded memory. Large files are sent in parts. */
  putFile(key: string, path: string, mediaType: string): Promise<void>;
  /** Upload a stream of bytes. Stores nothing if the stream fails. */
  putStream(key: string, bytes: Readable, mediaType: string): Promise<void>;
  /** Copy an object of any size without downloading it. Return false if it does not exist. */
  copy(from: string, to: string): Promise<boolean>;
  /** Delete at most 1,000 objects. Missing objects are no error. */
  delete(keys: readonly string[]): Promise<void>;
  /** Presign the upload of exactly `size` bytes with this SHA-256. S3 refuses any other body. */
  presignUpload(key: string, size: number, sha256: string): Promise<PresignedUpload>;
}

const downloadSeconds = 15 * 60;
const partBytes = 16 * 1024 * 1024;

const hexToBase64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64');

function isMissing(error: unknown): boolean {
  return error instanceof Error && (error.name === 'NotFound' || error.name === 'NoSuchKey');
}

/** `Content-Disposition` with the name encoded by RFC 6266. No file name can break out of the header. */
function dispositionOf(kind: 'attachment' | 'inline', fileName: string): string {
  const ascii = fileName.replace(/[^A-Za-z0-9._ -]/g, '_');
  const utf8 = encodeURIComponent(fileName.toWellFormed()).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${kind}; filename="${ascii}"; filename*=UTF-8''${utf8}`;
}

/** Reader of the bucket. @param ofUrls client that presigns, if others reach S3 by another address */
export function objectReader(client: S3Client, bucket: string, ofUrls = client): ObjectReader {
  return {
    async head(key) {
      try {
        const head = await client.send(
          new HeadObjectCommand({ Bucket: bucket, Key: key, ChecksumMode: 'ENABLED' }),
        );
        const checksum = head.ChecksumType === 'COMPOSITE' ? undefined : head.ChecksumSHA256;
        const sha256 = checksum === undefined ? undefined : Buffer.from(checksum, 'base64').toString('hex');
        return { size: head.ContentLength ?? 0, sha256 };
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },

    async read(key, range) {
      try {
        const answer = await client.send(
          new GetObjectCommand({
            Bucket: bucket,
            Key: key,
            ...(range !== undefined && { Range: `bytes=${range.first}-${range.last}` }),
          }),
        );
        return answer.Body instanceof Readable ? answer.Body : Readable.from([]);
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },

    async open(key, { from, etag, signal }) {
      try {
        const answer = await client.send(
          new GetObjectCommand({
            Bucket: bucket,
            Key: key,
            ...(from > 0 && { Range: `bytes=${from}-` }),
            ...(etag !== undefined && { IfMatch: etag }),
          }),
          signal === undefined ? {} : { abortSignal: signal },
        );
        const size = from + (answer.ContentLength ?? 0);
        const body = answer.Body instanceof Readable ? answer.Body : Readable.from([]);
        return { body, size, etag: answer.ETag };
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },

    async list(prefix, after) {
      const answer = await client.send(
        new ListObjectsV2Command({
          Bucket: bucket,
          Prefix: prefix,
          ...(after !== undefined && { StartAfter: after }),
        }),
      );
      const objects = (answer.Contents ?? []).flatMap(({ Key, Size }) =>
        Key === undefined ? [] : [{ key: Key, size: Size ?? 0 }],
      );
      return { objects, next: answer.IsTruncated === true ? objects.at(-1)?.key : undefined };
    },

    async presignDownload(key, fileName, mediaType, disposition = 'attachment') {
      const asked = {
        Bucket: bucket,
        Key: key,
        ResponseContentDisposition: dispositionOf(disposition, fileName),
        ResponseContentType: mediaType,
      };
      const valid = { expiresIn: downloadSeconds };
      const [GET, HEAD] = await Promise.all([
        getSignedUrl(ofUrls, new GetObjectCommand(asked), valid),
        getSignedUrl(ofUrls, new HeadObjectCommand(asked), valid),
      ]);
      return { GET, HEAD };
    },
  };
}

export function objectWriter(client: S3Client, bucket: string, ofUrls = client): ObjectWriter {
  async function putStream(key: string, bytes: Readable, mediaType: string): Promise<void> {
    const upload = new Upload({
      client,
      params: { Bucket: bucket, Key: key, Body: bytes, ContentType: mediaType },
      partSize: partBytes,
      queueSize: 2,
    });
    await upload.done();
  }

  return {
    ...objectReader(client, bucket, ofUrls),
    ...multipartUploads(client, bucket, ofUrls),

    async put(key, bytes, mediaType) {
      await client.send(
        new PutObjectCommand({ Bucket: bucket, Key: key, Body: bytes, ContentType: mediaType }),
      );
    },

    putFile: (key, path, mediaType) => putStream(key, createReadStream(path), mediaType),
    putStream,

    async copy(from, to) {
      try {
        await copyInParts(client, bucket, from, to);
        return true;
      } catch (error) {
        if (isMissing(error)) return false;
        throw error;
      }
    },

    async delete(keys) {
      if (keys.length === 0) return;
      const answer = await client.send(
        new DeleteObjectsCommand({
          Bucket: bucket,
          Delete: { Objects: keys.map((Key) => ({ Key })), Quiet: true },
        }),
      );
      const [first] = answer.Errors ?? [];
      if (first !== undefined)
        throw new Error(
          `storage did not delete ${first.Key ?? 'an object'}: ${first.Code ?? 'no reason given'}`,
        );
    },

    async presignUpload(key, size, sha256) {
      const checksum = hexToBase64(sha256);
      const command = new PutObjectCommand({
        Bucket: bucket,
        Key: key,
        ContentLength: size,
        ChecksumSHA256: checksum,
      });
      const url = await getSignedUrl(ofUrls, command, {
        expiresIn: uploadSeconds,
        signableHeaders: new Set(['content-length', 'host', 'x-amz-checksum-sha256']),
        unhoistableHeaders: new Set(['x-amz-checksum-sha256']),
      });
      const headers = { 'content-length': String(size), 'x-amz-checksum-sha256': checksum };
      return { url, method: 'PUT', headers, expires_in: uploadSeconds };
    },
  };
}

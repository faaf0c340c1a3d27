import { S3Error } from '../protocol/s3-error.ts';
import {
  createBucket,
  deleteBucket,
  getBucketPolicy,
  listObjectVersions,
  putBucketVersioning,
} from './buckets.ts';
import { copyObject, copyPart } from './copy-object.ts';
import { deleteObject, deleteObjects } from './delete-objects.ts';
import { getObject, headObject } from './get-object.ts';
import { headBucket, listObjectsV2 } from './list-objects.ts';
import { listParts, listUploads } from './list-uploads.ts';
import { abortUpload, completeUpload, createUpload, uploadPart } from './multipart-upload.ts';
import { overrideParameters } from './object-headers.ts';
import { putObject } from './put-object.ts';
import type { Operation } from './s3-exchange.ts';

/**
 * Return the operation of a request. Refuse operations and parameters that the service does not use with
 * NotImplemented, so that nothing is ignored silently.
 * @throws S3Error NotImplemented, MethodNotAllowed
 */
export function route(
  method: string,
  { bucket, key, query }: { bucket: string; key: string; query: ReadonlyMap<string, string> },
  headers: ReadonlyMap<string, string>,
): Routed {
  if (!methods.includes(method)) {
    throw new S3Error(
      'MethodNotAllowed',
      'The specified method is not allowed against this resource.',
      { Method: method },
      { allow: methods.join(', ') },
    );
  }
  const refused = [...headers.keys()].find((name) => unsupported.test(name));
  if (refused !== undefined) throw notImplemented({ Header: refused });
  const names = [...query.keys()].filter((name) => name !== 'x-id' && !/^x-amz-/i.test(name));
  const on = key === '' ? 'bucket' : 'object';
  const found = routes.find(
    (candidate) =>
      candidate.method === method &&
      candidate.on === on &&
      candidate.selects.every((name) => query.has(name)),
  );
  const version2 = query.get('list-type') ?? '2';
  if (found === undefined || bucket === '' || version2 !== '2') throw notImplemented({});
  const extra = names.find((name) => !found.selects.includes(name) && !found.takes.includes(name));
  if (extra !== undefined) throw notImplemented({ Parameter: extra });
  const asked = actions.get(found.operation);
  const action = query.has('versionId') ? `${asked}Version` : asked;
  if (headers.has('x-amz-copy-source')) {
    if (found.operation === uploadPart) return { action, operation: copyPart };
    if (headers.has('x-amz-copy-source-range')) throw notImplemented({ Header: 'x-amz-copy-source-range' });
    if (found.operation === putObject) return { action, operation: copyObject };
    throw notImplemented({ Header: 'x-amz-copy-source' });
  }
  return { action, operation: found.operation };
}

/** The operation of a request, and the action that it requires. */
export interface Routed {
  operation: Operation;
  action: string | undefined;
}

const methods = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE'];

/** Headers of unsupported features. The server must refuse these rather than ignore them. */
const unsupported =
  /^x-amz-(?:acl|grant-.*|tagging.*|storage-class|server-side-encryption.*|website-redirect-location|object-lock-.*|copy-source-server-side-.*|write-offset-bytes|if-match-.*|mfa|bypass-governance-retention|expected-bucket-owner|source-expected-bucket-owner|request-payer|object-attributes)$/;

function notImplemented(fields: Record<string, string>): S3Error {
  return new S3Error('NotImplemented', 'What you asked for is not implemented by this server', fields);
}

const listParameters = [
  'prefix',
  'delimiter',
  'max-keys',
  'start-after',
  'continuation-token',
  'encoding-type',
];

const uploadsParameters = ['prefix', 'max-uploads', 'key-marker', 'upload-id-marker', 'encoding-type'];

const versionsParameters = ['prefix', 'max-keys', 'key-marker', 'version-id-marker', 'encoding-type'];

const partsParameters = ['max-parts', 'part-number-marker', 'encoding-type'];

const routes: readonly Route[] = [
  { method: 'HEAD', on: 'bucket', selects: [], takes: [], operation: headBucket },
  { method: 'GET', on: 'bucket', selects: ['list-type'], takes: listParameters, operation: listObjectsV2 },
  { method: 'GET', on: 'bucket', selects: ['uploads'], takes: uploadsParameters, operation: listUploads },
  {
    method: 'GET',
    on: 'bucket',
    selects: ['versions'],
    takes: versionsParameters,
    operation: listObjectVersions,
  },
  { method: 'GET', on: 'bucket', selects: ['policy'], takes: [], operation: getBucketPolicy },
  { method: 'PUT', on: 'bucket', selects: ['versioning'], takes: [], operation: putBucketVersioning },
  { method: 'PUT', on: 'bucket', selects: [], takes: [], operation: createBucket },
  { method: 'DELETE', on: 'bucket', selects: [], takes: [], operation: deleteBucket },
  { method: 'POST', on: 'bucket', selects: ['delete'], takes: [], operation: deleteObjects },
  { method: 'GET', on: 'object', selects: ['uploadId'], takes: partsParameters, operation: listParts },
  { method: 'GET', on: 'object', selects: [], takes: overrideParameters, operation: getObject },
  { method: 'HEAD', on: 'object', selects: [], takes: overrideParameters, operation: headObject },
  { method: 'PUT', on: 'object', selects: ['uploadId', 'partNumber'], takes: [], operation: uploadPart },
  { method: 'PUT', on: 'object', selects: [], takes: [], operation: putObject },
  { method: 'DELETE', on: 'object', selects: ['uploadId'], takes: [], operation: abortUpload },
  { method: 'DELETE', on: 'object', selects: [], takes: ['versionId'], operation: deleteObject },
  { method: 'POST', on: 'object', selects: ['uploads'], takes: [], operation: createUpload },
  { method: 'POST', on: 'object', selects: ['uploadId'], takes: [], operation: completeUpload },
];

interface Route {
  method: string;
  on: 'bucket' | 'object';
  /** Required parameters, which select the route. */
  selects: readonly string[];
  /** Optional parameters. */
  takes: readonly string[];
  operation: Operation;
}

/** The action that a role needs for each operation. `deleteObjects` checks each object itself. */
const actions: ReadonlyMap<Operation, string> = new Map([
  [headBucket, 's3:ListBucket'],
  [listObjectsV2, 's3:ListBucket'],
  [listUploads, 's3:ListBucketMultipartUploads'],
  [listObjectVersions, 's3:ListBucketVersions'],
  [getBucketPolicy, 's3:GetBucketPolicy'],
  [putBucketVersioning, 's3:PutBucketVersioning'],
  [createBucket, 's3:CreateBucket'],
  [deleteBucket, 's3:DeleteBucket'],
  [listParts, 's3:ListMultipartUploadParts'],
  [getObject, 's3:GetObject'],
  [headObject, 's3:GetObject'],
  [uploadPart, 's3:PutObject'],
  [putObject, 's3:PutObject'],
  [abortUpload, 's3:AbortMultipartUpload'],
  [deleteObject, 's3:DeleteObject'],
  [createUpload, 's3:PutObject'],
  [completeUpload, 's3:PutObject'],
]);

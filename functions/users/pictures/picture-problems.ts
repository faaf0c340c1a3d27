import { ServiceError } from '../../../shared/core/service-error.ts';
import type { UploadMediaType } from './sniff-picture.ts';

/** An error for a body that cannot be made into a picture. */
export function unfitPicture(message: string, cause?: unknown): ServiceError {
  return new ServiceError('bad-request', `body: ${message}`, {
    errors: [{ in: 'body', name: 'body', message }],
    cause,
  });
}

/** An error for a body that is no picture of an accepted kind, or not of its Content-Type's. */
export function otherMediaType(
  declared: string | undefined,
  found: UploadMediaType | undefined,
): ServiceError {
  return new ServiceError(
    'unsupported-media-type',
    found === undefined
      ? 'By its bytes the body is neither a PNG, JPEG, WebP nor GIF picture.'
      : `Content-Type says ${declared}, but by its bytes the body is ${found}.`,
  );
}

/** An error for more pixels than are decoded. */
export function tooManyPixels(width: number, height: number, most: number): ServiceError {
  return new ServiceError(
    'too-large',
    `The picture has ${width} × ${height} pixels; at most ${most / 1_000_000} megapixels are taken.`,
  );
}

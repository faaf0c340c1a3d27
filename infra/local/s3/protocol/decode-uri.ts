import { S3Error } from './s3-error.ts';

/** Undo percent-encoding. @throws S3Error InvalidURI when it is broken or not UTF-8 */
export function decodeUri(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new S3Error('InvalidURI', "Couldn't parse the specified URI.");
  }
}

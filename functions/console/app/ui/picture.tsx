import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { endpoint as readThumbnail } from '../../../users/pictures/read-thumbnail.endpoint.ts';
import { open } from '../api/calls.ts';

interface Thumbnail {
  /** Object URL, because an `img` element sends no token. */
  url: string;
  /** Whether the user uploaded it. Others have one that is drawn from their id. */
  isUploaded: boolean;
}

const pictures = signal<Readonly<Record<string, Thumbnail>>>({});
const asked = new Set<string>();

export function forgetPicture(username: string): void {
  asked.delete(username);
  const { [username]: old, ...others } = pictures.value;
  if (old !== undefined) URL.revokeObjectURL(old.url);
  pictures.value = others;
}

/** Return whether a user has uploaded the picture that is shown; false until it is loaded. */
export const isUploaded = (username: string): boolean => pictures.value[username]?.isUploaded === true;

export function Picture({ username, size }: { username: string; size: number }) {
  const url = pictures.value[username]?.url;
  useEffect(() => {
    if (url !== undefined || asked.has(username)) return;
    asked.add(username);
    open<typeof readThumbnail>('GET /users/{username}/thumbnail/', {
      path: { username },
      headers: { Accept: 'image/webp' },
    })
      .then((response) => response.blob())
      .then((blob) => {
        // A drawn picture is PNG whatever is asked for.
        const thumbnail = { url: URL.createObjectURL(blob), isUploaded: blob.type === 'image/webp' };
        pictures.value = { ...pictures.value, [username]: thumbnail };
      })
      // A deleted user has no picture.
      .catch(() => undefined);
  }, [username, url]);
  return url === undefined ? (
    <span class="picture" style={{ width: size, height: size }} />
  ) : (
    <img class="picture" src={url} width={size} height={size} alt="" />
  );
}

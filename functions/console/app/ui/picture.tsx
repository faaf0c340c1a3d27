import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { endpoint as readThumbnail } from '../../../users/pictures/read-thumbnail.endpoint.ts';
import { open } from '../api/calls.ts';

/** Thumbnails as object URLs, because an `img` element sends no token. */
const pictures = signal<Readonly<Record<string, string>>>({});
const asked = new Set<string>();

export function forgetPicture(username: string): void {
  asked.delete(username);
  const { [username]: old, ...others } = pictures.value;
  if (old !== undefined) URL.revokeObjectURL(old);
  pictures.value = others;
}

export function Picture({ username, size }: { username: string; size: number }) {
  const url = pictures.value[username];
  useEffect(() => {
    if (url !== undefined || asked.has(username)) return;
    asked.add(username);
    open<typeof readThumbnail>('GET /users/{username}/thumbnail/', {
      path: { username },
      headers: { Accept: 'image/png' },
    })
      .then((response) => response.blob())
      .then((blob) => {
        pictures.value = { ...pictures.value, [username]: URL.createObjectURL(blob) };
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

/** Media types of pictures that are taken. */
export const uploadMediaTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const;
export type UploadMediaType = (typeof uploadMediaTypes)[number];

/** Bytes by which each kind of file begins; `?` stands for any byte. */
const signatures: readonly { mediaType: UploadMediaType; begins: string }[] = [
  { mediaType: 'image/png', begins: '\x89PNG\r\n\x1a\n' },
  { mediaType: 'image/jpeg', begins: '\xff\xd8\xff' },
  { mediaType: 'image/webp', begins: 'RIFF????WEBP' },
  { mediaType: 'image/gif', begins: 'GIF87a' },
  { mediaType: 'image/gif', begins: 'GIF89a' },
];

/** What a file is by its own bytes; undefined for anything that is not taken. */
export function sniffPicture(bytes: Uint8Array): UploadMediaType | undefined {
  const head = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  return signatures.find(({ begins }) =>
    [...begins].every((sign, index) => sign === '?' || sign === head[index]),
  )?.mediaType;
}

/** One of the four stored forms of a picture. */
export interface PictureForm {
  size: PictureSize;
  mediaType: PictureMediaType;
}

/** Pixels per side of each stored size. */
export const pictureSides = { profile_picture: 512, thumbnail: 128 } as const;
export type PictureSize = keyof typeof pictureSides;

/** Media types of stored pictures; the first is the default. */
export const pictureMediaTypes = ['image/webp', 'image/png'] as const;
export type PictureMediaType = (typeof pictureMediaTypes)[number];

const sizes: readonly PictureSize[] = ['profile_picture', 'thumbnail'];

export const pictureForms: readonly PictureForm[] = sizes.flatMap((size) =>
  pictureMediaTypes.map((mediaType) => ({ size, mediaType })),
);

/** Media types that an upload may have. */
export const uploadMediaTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const;
export type UploadMediaType = (typeof uploadMediaTypes)[number];

/** Detect the media type of a file by its bytes; undefined for types that an upload may not have. */
export function sniffPicture(bytes: Uint8Array): UploadMediaType | undefined {
  const head = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  return signatures.find(({ begins }) =>
    [...begins].every((sign, index) => sign === '?' || sign === head[index]),
  )?.mediaType;
}

/** Magic bytes of each media type; `?` stands for any byte. */
const signatures: readonly { mediaType: UploadMediaType; begins: string }[] = [
  { mediaType: 'image/png', begins: '\x89PNG\r\n\x1a\n' },
  { mediaType: 'image/jpeg', begins: '\xff\xd8\xff' },
  { mediaType: 'image/webp', begins: 'RIFF????WEBP' },
  { mediaType: 'image/gif', begins: 'GIF87a' },
  { mediaType: 'image/gif', begins: 'GIF89a' },
];

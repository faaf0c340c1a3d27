/** Pixels on a side of each size that is kept of a picture. */
export const pictureSides = { profile_picture: 512, thumbnail: 128 } as const;
export type PictureSize = keyof typeof pictureSides;

/** Media types of pictures that are answered; the first is the default. */
export const pictureMediaTypes = ['image/webp', 'image/png'] as const;
export type PictureMediaType = (typeof pictureMediaTypes)[number];

/** One of the four forms in which a picture is kept. */
export interface PictureForm {
  size: PictureSize;
  mediaType: PictureMediaType;
}

const sizes: readonly PictureSize[] = ['profile_picture', 'thumbnail'];

export const pictureForms: readonly PictureForm[] = sizes.flatMap((size) =>
  pictureMediaTypes.map((mediaType) => ({ size, mediaType })),
);

/** Whether a file begins as a picture that is read: a PNG or a JPEG. */
export const isImage = (bytes: Uint8Array): boolean =>
  signatures.some((start) => start.every((byte, at) => bytes[at] === byte));

const signatures = [
  [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
  [0xff, 0xd8, 0xff],
];

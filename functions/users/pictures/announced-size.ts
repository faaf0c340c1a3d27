import type { UploadMediaType } from './sniff-picture.ts';

export interface PixelSize {
  width: number;
  height: number;
}

/**
 * The size that a picture declares at a fixed offset: the header of a PNG, the screen of a GIF. For a GIF the codec
 * returns the size of the frame instead when it rejects the screen's. Undefined for other formats, and for files that
 * end before.
 */
export function announcedSize(mediaType: UploadMediaType, bytes: Uint8Array): PixelSize | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (mediaType === 'image/png' && view.length >= 24 && view.toString('latin1', 12, 16) === 'IHDR') {
    return { width: view.readUInt32BE(16), height: view.readUInt32BE(20) };
  }
  if (mediaType === 'image/gif' && view.length >= 10) {
    return { width: view.readUInt16LE(6), height: view.readUInt16LE(8) };
  }
  return undefined;
}

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
export const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/** The bytes cannot be decrypted: they were sealed with another key or purpose, or were changed. */
export class UnopenableError extends Error {
  override readonly name = 'UnopenableError';
}

/** Return a new random key. */
export const newKey = (): Buffer => randomBytes(keyBytes);

/**
 * Derive the key of one purpose from another key (HKDF, RFC 5869). The derived key reveals nothing about the other
 * key.
 */
export const derivedKey = (key: Uint8Array, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', key, new Uint8Array(), purpose, keyBytes));

/**
 * Encrypt and authenticate a text (AES-256-GCM with a random nonce).
 * @param purpose use of the text. The text opens only for the same purpose, so it cannot replace another sealed
 * text.
 */
export function seal(key: Uint8Array, text: string, purpose: string): Uint8Array {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(purpose));
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]);
}

/**
 * Decrypt bytes that `seal` returned.
 * @throws UnopenableError
 */
export function openSealed(key: Uint8Array, sealed: Uint8Array, purpose: string): string {
  const nonce = sealed.subarray(0, nonceBytes);
  const tag = sealed.subarray(nonceBytes, nonceBytes + tagBytes);
  try {
    const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
      .setAAD(Buffer.from(purpose))
      .setAuthTag(tag);
    const opened = [decipher.update(sealed.subarray(nonceBytes + tagBytes)), decipher.final()];
    return Buffer.concat(opened).toString('utf8');
  } catch {
    throw new UnopenableError('the bytes were sealed with another key, or were changed');
  }
}

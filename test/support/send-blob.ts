import type { SendFile } from '../../shared/client/send-upload.ts';

/** Send bytes from memory. */
export const sendBlob =
  (blob: Blob, signal?: AbortSignal): SendFile =>
  async ({ url, method, headers }) => {
    const response = await fetch(url, {
      method,
      headers,
      body: blob,
      ...(signal !== undefined && { signal }),
    });
    return { status: response.status, text: await response.text() };
  };

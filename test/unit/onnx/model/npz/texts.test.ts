import { describe, expect, test } from 'vitest';
import { readTexts, textForm } from '../../../../../shared/onnx/model/npz/npy-texts.ts';
import { pickledTexts } from '../../../../../shared/onnx/model/npz/pickled-texts.ts';

const pickle = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'));

/** `numpy.array([['a', 'bb'], ['', 'bb']], dtype=object)`, pickled by protocol. */
const pickles = {
  2: 'gAJjbnVtcHkuX2NvcmUubXVsdGlhcnJheQpfcmVjb25zdHJ1Y3QKcQBjbnVtcHkKbmRhcnJheQpxAUsAhXECY19jb2RlY3MKZW5jb2RlCnEDWAEAAABicQRYBgAAAGxhdGluMXEFhnEGUnEHh3EIUnEJKEsBSwJLAoZxCmNudW1weQpkdHlwZQpxC1gCAAAATzhxDImIh3ENUnEOKEsDWAEAAAB8cQ9OTk5K/////0r/////Sz90cRBiiV1xEShYAQAAAGFxElgCAAAAYmJxE1gAAAAAcRRoE2V0cRViLg==',
  4: 'gASVmgAAAAAAAACMFm51bXB5Ll9jb3JlLm11bHRpYXJyYXmUjAxfcmVjb25zdHJ1Y3SUk5SMBW51bXB5lIwHbmRhcnJheZSTlEsAhZRDAWKUh5RSlChLAUsCSwKGlGgDjAVkdHlwZZSTlIwCTziUiYiHlFKUKEsDjAF8lE5OTkr/////Sv////9LP3SUYoldlCiMAWGUjAJiYpSMAJRoFGV0lGIu',
};

/** Arrays of 'a' and 1, and of b'a' and b'b'. */
const mixed =
  'gASVkAAAAAAAAACMFm51bXB5Ll9jb3JlLm11bHRpYXJyYXmUjAxfcmVjb25zdHJ1Y3SUk5SMBW51bXB5lIwHbmRhcnJheZSTlEsAhZRDAWKUh5RSlChLAUsChZRoA4wFZHR5cGWUk5SMAk84lImIh5RSlChLA4wBfJROTk5K/////0r/////Sz90lGKJXZQojAFhlEsBZXSUYi4=';

describe('texts of a NumPy array', () => {
  test.each([[2], [4]] as const)('are read from objects of pickle protocol %i', (protocol) => {
    expect(pickledTexts(pickle(pickles[protocol]))).toEqual(['a', 'bb', '', 'bb']);
  });

  test('are refused where objects are others', () => {
    expect(() => pickledTexts(pickle(mixed))).toThrow('contains others than texts');
  });

  test.each([4, 20, 60, 110])('are refused in a pickle that ends after %i bytes', (length) => {
    expect(() => pickledTexts(pickle(pickles[4]).subarray(0, length))).toThrow('is damaged');
  });

  test('are Unicode or bytes of a fixed width, without the zeros that fill them', () => {
    const points = [0x41, 0x1f600, 0, 0x42, 0, 0];
    const wide = new Uint8Array(Uint32Array.from(points).buffer);
    const [unicode, bytes] = [textForm('U', 3), textForm('S', 2)];

    expect(unicode && readTexts(wide, unicode, false)).toEqual(['A😀', 'B']);
    expect(unicode && readTexts(Buffer.from(wide).swap32(), unicode, true)).toEqual(['A😀', 'B']);
    expect(bytes && readTexts(Buffer.from('ab\0c\0\0'), bytes, false)).toEqual(['ab', '\0c', '']);
    expect(textForm('f', 4)).toBeUndefined();
  });
});

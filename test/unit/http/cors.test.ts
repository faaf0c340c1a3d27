import { describe, expect, test } from 'vitest';
import { readCorsOrigins } from '../../../shared/core/cors-origins.ts';
import { openApiDocument } from '../../../shared/http/openapi/document.ts';
import { withCors } from '../../../shared/http/pipeline/cors.ts';

describe('CORS_ORIGINS', () => {
  test.each([
    [undefined, []],
    ['', []],
    [' , ', []],
    ['https://a.example', ['https://a.example']],
    ['https://a.example, http://localhost:5173 ', ['https://a.example', 'http://localhost:5173']],
    ['https://a.example,https://a.example', ['https://a.example']],
    ['http://[::1]:8080', ['http://[::1]:8080']],
  ])('%j is %j', (given, origins) => {
    expect(readCorsOrigins({ CORS_ORIGINS: given })).toEqual(origins);
  });

  test.each([
    ['*', '"*" is refused'],
    ['https://a.example,*', '"*" is refused'],
    ['https://*.example', 'is refused'],
    ['null', 'is not an origin'],
    ['a.example', 'is not an origin'],
    ['file:///etc/passwd', 'is not an origin'],
    ['javascript:alert(1)', 'is not an origin'],
    ['https://a.example/', 'must be written https://a.example'],
    ['https://a.example/path', 'must be written https://a.example'],
    ['https://user@a.example', 'must be written https://a.example'],
    ['https://A.example', 'must be written https://a.example'],
    ['https://a.example:443', 'must be written https://a.example'],
    ['https://bücher.example', 'must be written https://xn--bcher-kva.example'],
    ['https://a.example https://b.example', 'is not an origin'],
  ])('%j is refused', (given, message) => {
    expect(() => readCorsOrigins({ CORS_ORIGINS: given })).toThrow(message);
  });
});

describe('an answer for pages of other origins', () => {
  const origins = ['https://a.example'];
  const answer = { statusCode: 200, body: '' };

  test('keeps what it varied by', () => {
    const vary = (Vary: string) => withCors({ ...answer, headers: { Vary } }, origins, undefined).headers;
    expect(vary('Accept')).toEqual({ Vary: 'Accept, Origin' });
    expect(vary('Accept, origin')).toEqual({ Vary: 'Accept, origin' });
  });

  test('is the same twice', () => {
    const once = withCors(answer, origins, 'https://a.example');
    expect(withCors(once, origins, 'https://a.example')).toEqual(once);
  });

  test('is as it was where there are no origins', () => {
    expect(withCors(answer, [], 'https://a.example')).toBe(answer);
  });

  test('shows scripts every header that is documented', () => {
    const options = { title: 'T', version: '1', description: 'D', tags: [], samples: {} };
    const documented = Object.keys(openApiDocument([], options).components['headers'] as object);
    const { headers } = withCors(answer, origins, 'https://a.example');
    const exposed = String(headers?.['Access-Control-Expose-Headers']).split(', ');
    expect(exposed).toEqual(expect.arrayContaining(documented));
    expect(documented).toContain('Idempotency-Replayed');
  });
});

import { describe, expect, test } from 'vitest';
import { createLogger } from '../../../shared/core/log.ts';
import { renderError } from '../../../shared/http/render-error.ts';

const log = createLogger('error', () => {});

describe('what is out of reach at the moment is a 503 that says when to come again', () => {
  test.each(['ECONNREFUSED', 'ECONNRESET', 'EMFILE', 'ENFILE', 'EADDRNOTAVAIL'])('%s', (code) => {
    const error = Object.assign(new Error(`connect ${code} 127.0.0.1:8000`), { code });
    const { statusCode, headers, body } = renderError(error, 'request', log);
    expect(statusCode).toBe(503);
    expect(headers).toMatchObject({ 'Retry-After': '5' });
    expect(body).not.toContain(code);
  });
});

test('everything else that was not foreseen is a 500 that tells nothing', () => {
  const { statusCode, body } = renderError(new Error('a secret'), 'request', log);
  expect(statusCode).toBe(500);
  expect(body).not.toContain('secret');
});

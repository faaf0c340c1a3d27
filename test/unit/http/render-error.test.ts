import { describe, expect, test } from 'vitest';
import { createLogger } from '../../../shared/core/log.ts';
import { badRequest, ServiceError } from '../../../shared/core/service-error.ts';
import { HttpError } from '../../../shared/http/answer/http-error.ts';
import { renderError } from '../../../shared/http/answer/render-error.ts';

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

test('a 503 of the service says when to come again, and the log says why, whoever throws it', () => {
  const lines: string[] = [];
  const heard = createLogger('info', (text) => void lines.push(text));

  const { statusCode, headers } = renderError(
    new ServiceError('unavailable', 'Storage refused the body.'),
    'request',
    heard,
  );

  expect(statusCode).toBe(503);
  expect(headers).toMatchObject({ 'Retry-After': '5' });
  expect(lines.map((text) => JSON.parse(text))).toMatchObject([{ detail: 'Storage refused the body.' }]);
});

test('a stored file that is damaged is named, with what to do', () => {
  const message = 'The stored bytes of projects/a are damaged. The object can be uploaded again or deleted.';
  const error = Object.assign(new Error(message), { name: 'InvalidObjectState' });
  const { statusCode, body } = renderError(error, 'request', log);
  expect(statusCode).toBe(409);
  expect(JSON.parse(body).detail).toBe(`Storage cannot read a file that the request needs. ${message}`);
});

describe('a fault of the disk below is named', () => {
  const answered = (error: Error) => renderError(error, 'request', log);
  const engine = (message: string) => Object.assign(new Error(message), { name: 'InternalServerError' });

  test.each([
    engine('backend: database or disk is full'),
    Object.assign(new Error('write'), { code: 'ENOSPC' }),
    Object.assign(new Error('database or disk is full'), { errcode: 13 }),
    Object.assign(new Error('The disk is full. Please try again later.'), { name: 'ServiceUnavailable' }),
  ])('full: $message', (error) => {
    const { statusCode, headers, body } = answered(error);
    expect(statusCode).toBe(503);
    expect(headers).toMatchObject({ 'Retry-After': '30' });
    expect(body).toContain('The disk of this service is full');
  });

  test.each([
    engine('backend: database disk image is malformed'),
    Object.assign(new Error('corrupt'), { errcode: 11 | (1 << 8) }),
  ])('damaged: $message', (error) => {
    const { statusCode, body } = answered(error);
    expect(statusCode).toBe(500);
    expect(body).toContain('A database of this service is damaged');
  });
});

test('everything else that was not foreseen is a 500 that tells nothing', () => {
  const { statusCode, body } = renderError(new Error('a secret'), 'request', log);
  expect(statusCode).toBe(500);
  expect(body).not.toContain('secret');
});

describe('an error of the service', () => {
  const answered = (error: Error) => {
    const { statusCode, headers = {}, body } = renderError(error, 'request', log);
    return { statusCode, headers, document: JSON.parse(body) };
  };

  test('has the status and title of its kind, and the faulty parameters', () => {
    const faults = [{ in: 'query' as const, name: 'limit', message: 'is no number' }];
    const { statusCode, headers, document } = answered(badRequest(faults));
    expect(statusCode).toBe(400);
    expect(document).toEqual({
      type: '/docs#problem-bad-request',
      title: 'Bad request',
      status: 400,
      detail: 'limit: is no number',
      instance: 'request',
      errors: faults,
      message: 'limit: is no number',
    });
    expect(headers).not.toHaveProperty('Retry-After');
    expect(headers).not.toHaveProperty('WWW-Authenticate');
  });

  test('says in Retry-After when a repetition may succeed', () => {
    const { statusCode, headers } = answered(
      new ServiceError('unavailable', 'busy', { retryAfterSeconds: 2 }),
    );
    expect(statusCode).toBe(503);
    expect(headers).toMatchObject({ 'Retry-After': '2' });
  });

  test('names its code, and the way to sign in where that is needed', () => {
    const { statusCode, headers, document } = answered(
      new ServiceError('unauthenticated', 'wrong', { code: 'invalid_grant' }),
    );
    expect(statusCode).toBe(401);
    expect(headers).toMatchObject({ 'WWW-Authenticate': 'Bearer' });
    expect(document).toMatchObject({ error: 'invalid_grant' });
  });
});

test('an error of HTTP alone has its own headers', () => {
  const { statusCode, headers, body } = renderError(
    new HttpError('method-not-allowed', 'allowed is GET', { Allow: 'GET' }),
    'request',
    log,
  );
  expect(statusCode).toBe(405);
  expect(headers).toMatchObject({ Allow: 'GET' });
  expect(JSON.parse(body)).toMatchObject({ type: '/docs#problem-method-not-allowed', errors: [] });
});

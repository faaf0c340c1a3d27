import { describe, expect, test } from 'vitest';
import { CommandError } from '../../../../../infra/command/command-error.ts';
import { readLimits, readOrigins } from '../../../../../infra/local/start/start-options.ts';

describe('options of the gateway', () => {
  test('are those that were set', () => {
    expect(readLimits({})).toEqual({});
    expect(readLimits({ LIMIT_REQUESTS_PER_SECOND: '' })).toEqual({});
    expect(readLimits({ LIMIT_REQUESTS_PER_SECOND: '50' })).toEqual({ perSecond: 50, burst: 100 });
    expect(readLimits({ LIMIT_REQUESTS_PER_SECOND: '50', LIMIT_REQUEST_BURST: '7' })).toEqual({
      perSecond: 50,
      burst: 7,
    });
    expect(readLimits({ LIMIT_REQUESTS_IN_FLIGHT: '3', LIMIT_REQUESTS_WAITING: '4' })).toEqual({
      inFlight: 3,
      waiting: 4,
    });
    expect(readOrigins({ CORS_ORIGINS: 'https://a.example' })).toEqual(['https://a.example']);
  });

  test.each(['0', '-1', '1.5', 'many', '1e9', '0x10'])('%j is no limit', (given) => {
    expect(() => readLimits({ LIMIT_REQUESTS_IN_FLIGHT: given })).toThrow(CommandError);
    expect(() => readLimits({ LIMIT_REQUESTS_IN_FLIGHT: given })).toThrow('LIMIT_REQUESTS_IN_FLIGHT');
  });

  test('a bad origin keeps the service from starting', () => {
    expect(() => readOrigins({ CORS_ORIGINS: '*' })).toThrow(CommandError);
    expect(() => readOrigins({ CORS_ORIGINS: '*' })).toThrow('CORS_ORIGINS: "*" is refused');
  });
});

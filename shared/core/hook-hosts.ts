import * as z from 'zod';

/**
 * Receivers of hooks on this machine or network, as `host:port` separated by commas. A URL that names one of them may be
 * one of HTTP, and have an address that is not public. Empty by default.
 */
export const HookHosts = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((one) => one.trim().toLowerCase())
      .filter((one) => one !== ''),
  )
  .refine(
    (hosts) => hosts.every((one) => hostPattern.test(one)),
    'must be receivers as host:port, separated by commas, such as 127.0.0.1:9000',
  );

const hostPattern = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\]):\d{1,5}$/;

import * as z from 'zod';

function originFault(origin: string): string | undefined {
  if (origin.includes('*')) return `${JSON.stringify(origin)} is refused: name each origin`;
  const url = URL.parse(origin);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return `${JSON.stringify(origin)} is not an origin such as https://app.example`;
  }
  return url.origin === origin ? undefined : `${JSON.stringify(origin)} must be written ${url.origin}`;
}

/**
 * Origins whose pages may call the service from a browser, for example
 * `https://app.example,http://localhost:5173`. Each must equal the `Origin` header of browsers. None by default. A
 * wildcard for all is not possible.
 */
export const CorsOrigins = z
  .string()
  .default('')
  .transform((list, context): readonly string[] => {
    const origins = list
      .split(',')
      .map((origin) => origin.trim())
      .filter((origin) => origin !== '');
    for (const fault of origins.map(originFault)) {
      if (fault !== undefined) context.addIssue(fault);
    }
    return [...new Set(origins)];
  });

/**
 * Read the origins of `CORS_ORIGINS` without the other settings.
 * @throws Error naming every invalid origin
 */
export function readCorsOrigins(
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const parsed = CorsOrigins.safeParse(environment['CORS_ORIGINS']);
  if (parsed.success) return parsed.data;
  throw new Error(`CORS_ORIGINS: ${parsed.error.issues.map(({ message }) => message).join('; ')}`);
}

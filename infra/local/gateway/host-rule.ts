const loopback = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Whether a `Host` header names this server. A page of another site can make its own name lead to the loopback
 * address (DNS rebinding), but not change the name that the browser sends. Any port passes, because a forwarded one
 * may differ and a page gains nothing by it.
 */
export function hostRule(allowedHosts: readonly string[]): (host: string) => boolean {
  const allowed = new Set([...loopback, ...allowedHosts].map((host) => host.toLowerCase()));
  return (host) =>
    allowed.has(host.toLowerCase()) || allowed.has(host.toLowerCase().replace(/:\d{1,5}$/, ''));
}

import { html } from '../../shared/drawing/html.ts';
import { pathOfHost } from '../../shared/http/definition/endpoint-context.ts';
import type { ConsoleFiles } from './build-app.ts';

/**
 * Content-Security-Policy of the console. It allows the console's own files, the API on the same origin, and the
 * storage that presigned URLs lead to. Inline scripts, framing and requests to other origins are forbidden.
 */
export const consolePolicy = (storageOrigin: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob: data:",
    `connect-src 'self' ${storageOrigin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const icon =
  'data:image/svg+xml,%3Csvg xmlns=%27http://www.w3.org/2000/svg%27 viewBox=%270 0 32 32%27%3E%3Crect width=%2732%27 height=%2732%27 rx=%277%27 fill=%27%231556c0%27/%3E%3Cpath d=%27M6 23l6-9 5 5 9-12%27 fill=%27none%27 stroke=%27white%27 stroke-width=%273.4%27 stroke-linecap=%27round%27 stroke-linejoin=%27round%27/%3E%3C/svg%3E';

/**
 * Return the HTML page of the console. Its script draws everything. A browser first requests only the page and its
 * two files: API Gateway refuses requests beyond the stage's burst, and browsers do not retry a refused script.
 * @param requestPath path as the browser sees it, such as `/v1/console`, with or without a trailing slash
 */
export function consolePage({ script, style, parts }: ConsoleFiles, requestPath: string): string {
  const base = `${pathOfHost(requestPath)}/`;
  return html`<!doctype html>
<html lang="en" data-parts="${JSON.stringify(parts)}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Model Project Service</title><link rel="icon" href="${icon}">
<link rel="stylesheet" href="${base}${style}"><script type="module" src="${base}${script}"></script></head>
<body><div id="app"><p class="starting">The console is loading. If nothing appears, the service was busy. Reload this page.</p></div><noscript><p>The console needs JavaScript. The API can do everything that the console does.</p></noscript></body></html>
`.text;
}

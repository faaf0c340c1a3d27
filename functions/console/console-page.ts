import { html } from '../../shared/drawing/html.ts';
import { pathOfHost } from '../../shared/http/definition/endpoint-context.ts';
import type { ConsoleFiles } from './build-app.ts';

/**
 * The Content-Security-Policy of the console: its own files, the API beside it, and the storage that presigned URLs lead
 * to. Nothing inline runs, nobody frames it, and it asks nobody else.
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
 * The page of the console; everything in it is drawn by its script. It and its two files are all that a browser asks for at
 * first: a stage of API Gateway refuses what comes beyond its burst, and a browser tries a refused script only once.
 *
 * @param requestPath as the browser has it, such as `/v1/console`, with or without a slash at its end
 */
export function consolePage({ script, style, parts }: ConsoleFiles, requestPath: string): string {
  const base = `${pathOfHost(requestPath)}/`;
  return html`<!doctype html>
<html lang="en" data-parts="${JSON.stringify(parts)}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Model Project Service</title><link rel="icon" href="${icon}">
<link rel="stylesheet" href="${base}${style}"><script type="module" src="${base}${script}"></script></head>
<body><div id="app"><p class="starting">The console is loading. If nothing follows, the service was busy: reload this page.</p></div><noscript><p>The console needs JavaScript. Everything it does can also be done by the API.</p></noscript></body></html>
`.text;
}

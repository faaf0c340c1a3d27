import { Html, html } from '../../shared/drawing/html.ts';
import { pagePolicy } from './docs/page-policy.ts';
import type { Start } from './start.ts';
import { startStyle } from './start-style.ts';

/** The policy of the page: its own style, and nothing else. */
export const startPolicy = pagePolicy({ style: startStyle });

const entry = (href: string, name: string, text: string): Html =>
  html`<div><dt><a href="${href}">${name}</a></dt><dd>${text}</dd></div>`;

/** The start page for people: what this is, and where it goes on. */
export function startPage(start: Start): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Model Project Service</title><link rel="icon" href="data:,">
<style>${new Html(startStyle)}</style></head><body><main>
<h1>Model Project Service</h1>
<p>The backend for machine-learning projects: it keeps projects, configurations, environments and experiments, trains them, and prunes and quantizes ONNX models.</p>
<dl>
${entry(start.console, 'Console', 'Projects, experiments and models in the browser')}
${entry(start.docs, 'Reference', 'Every operation, each with a curl command')}
${entry(start.openapi, 'OpenAPI 3.1 document', 'To generate clients from')}
${entry(start.health, 'Health', 'Check that the service responds')}
</dl>
<h2>Train a folder</h2>
<pre tabindex="0"><code>BASE=…    # the address of this page, without the slash at its end
npm install -g "$BASE/cli/mps.tgz"
mps login "$BASE"
mps run</code></pre>
</main></body></html>
`.text;
}

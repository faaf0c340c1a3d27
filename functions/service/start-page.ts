import * as z from 'zod';
import packageFile from '../../package.json' with { type: 'json' };
import { bytesText } from '../../shared/core/text/bytes-text.ts';
import { Html, html } from '../../shared/drawing/html.ts';
import { pagePalette } from '../../shared/drawing/page-palette.ts';
import { pathOfHost } from '../../shared/http/definition/endpoint-context.ts';
import { pagePolicy } from './docs/page-policy.ts';
import { installWheel, wheelName } from './wheel-name.ts';

/** The start page for people. It describes the service and links to the other pages. */
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
${entry(start.openapi, 'OpenAPI 3.1 document', 'For client generators')}
${entry(start.health, 'Health', 'Check that the service responds')}
</dl>
${start.data_folder === null ? '' : html`<p>The data folder has ${bytesText(start.data_folder.bytes)} of at most ${bytesText(start.data_folder.limit)}.</p>`}
<h2>Train a folder</h2>
<pre tabindex="0"><code>BASE=…    # the address of this page, without the slash at its end
npm install -g "$BASE/cli/mps.tgz"
mps login "$BASE"
mps run</code></pre>
<h2>From Python</h2>
<pre tabindex="0"><code>${installWheel('$BASE')}</code></pre>
<p>Then <code>import mps</code> records experiments, reads them, and starts trainings. <code>model-project-service[cli]</code> in its place brings the command to machines without Node.</p>
</main></body></html>
`.text;
}

const link = (description: string) => z.string().describe(description);

/** Description of the service, with links. Links are paths from the root of the host. */
export const Start = z
  .object({
    service: z.literal('model-project-service'),
    version: z.string().describe('Version of the service and of its command mps.'),
    console: link('The console in the browser.'),
    docs: link('The API reference in the browser.'),
    openapi: link('The OpenAPI document, for client generators.'),
    health: link('Check that the service responds.'),
    token: link('POST here to sign in.'),
    issuer_sign_in: z
      .string()
      .nullable()
      .describe('Browsers sign in here at the issuer of the service; null without one.'),
    account: link('The account of the caller.'),
    command: link('The command mps, for `npm install -g`.'),
    python: link('The package for Python, for `pip install`.'),
    python_versions: z
      .array(z.string())
      .nullable()
      .describe('Versions of Python that trainings can have; null if the service does not know them.'),
    package_indexes: z
      .array(z.string())
      .describe('Hosts of package indexes that the requirements of a training may name.'),
    priced: z
      .boolean()
      .describe('Whether jobs have a price: budgets in US$ hold only then, and nothing costs anything else.'),
    data_folder: z
      .object({
        bytes: z.number().describe('Size by the last measurement, which is made once a minute.'),
        limit: z
          .number()
          .describe('Size above which environments and downloads that nothing uses are removed.'),
      })
      .nullable()
      .describe('The folder of `npm start`; null on AWS, and before its first measurement.'),
  })
  .meta({ id: 'Start' });
export type Start = z.infer<typeof Start>;

/** The style of the start page: one column, light and dark by the reader's preference. */
const startStyle = `
${pagePalette}* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 44rem; padding: 3rem 1.25rem; color: var(--text); background: var(--page);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
a { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .75rem; }
h2 { font-size: 1.125rem; margin: 2rem 0 .5rem; }
dl { margin: 0; border-top: 1px solid var(--line); }
dl div { padding: .65rem 0; border-bottom: 1px solid var(--line); }
dt { font-weight: 600; }
dd { margin: 0; color: var(--soft); }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; font-size: .875em; }
pre { margin: 0; padding: .85rem 1rem; background: var(--code); border: 1px solid var(--line); border-radius: 8px; overflow: auto; }
`;

const entry = (href: string, name: string, text: string): Html =>
  html`<div><dt><a href="${href}">${name}</a></dt><dd>${text}</dd></div>`;

/** Policy of the page: it allows only the page's own style. */
export const startPolicy = pagePolicy({ style: startStyle });

/**
 * Return the links for a request to the root of the service. They are absolute: a deployment may be below a stage,
 * and callers request its root with and without a trailing slash, so relative links would break.
 *
 * @param requestPath path as the caller sees it, such as `/v1/`
 * @param python_versions versions of Python that trainings can have, if they are known
 * @param data_folder size and limit of the data folder, if there is one
 * @param package_indexes hosts of package indexes that requirements may name
 * @param hasIssuer whether people sign in at an issuer
 * @param priced whether jobs have a price
 */
export function startOf(
  requestPath: string,
  python_versions?: readonly string[],
  data_folder: Start['data_folder'] = null,
  package_indexes: readonly string[] = [],
  hasIssuer = false,
  priced = false,
): Start {
  const base = `${pathOfHost(requestPath)}/`;
  return {
    service: 'model-project-service',
    version: packageFile.version,
    console: `${base}console`,
    docs: `${base}docs`,
    openapi: `${base}openapi.json`,
    health: `${base}health`,
    token: `${base}auth/token`,
    issuer_sign_in: hasIssuer ? `${base}auth/oidc/start` : null,
    account: `${base}users/me`,
    command: `${base}cli/mps.tgz`,
    python: `${base}cli/${wheelName}`,
    python_versions: python_versions === undefined ? null : [...python_versions],
    package_indexes: [...package_indexes],
    priced,
    data_folder,
  };
}

import * as z from 'zod';
import { DeploymentOptions } from '../../../infra/aws/options/deployment-options.ts';

/** Return the deployment options as a Markdown table for infra/README.md. */
export function optionsTable(): string {
  const defaults: Record<string, unknown> = DeploymentOptions.parse({});
  const rows = Object.entries(DeploymentOptions.shape).map(
    ([name, schema]) =>
      `| \`${name}\` | ${shown(defaults[name])} | ${z.globalRegistry.get(schema)?.description ?? ''} |`,
  );
  return ['| option | default | meaning |', '|---|---|---|', ...rows].join('\n');
}

function shown(value: unknown): string {
  if (value === undefined || value === '') return '';
  if (Array.isArray(value)) return value.length === 0 ? '' : value.map((one) => `\`${one}\``).join(', ');
  if (typeof value === 'object') return '';
  return `\`${value}\``;
}

import * as z from 'zod';
import { Timestamp, Ulid } from '../../shared/core/formats.ts';
import { line } from '../../shared/core/text/text-rules.ts';
import type { Link } from '../../shared/data/projects/link.ts';
import { integer, projectPath } from '../../shared/http/definition/parameters.ts';

export const linkPath = projectPath.extend({ link_id: Ulid.describe('ID of the link.') });

const daySeconds = 24 * 60 * 60;

/** Maximum experiments that a link shows: of a comparison, or of the first page of a sweep or view. */
export const maxShared = 50;

const experimentIds = z.array(Ulid).max(maxShared, `has more than ${maxShared} experiments`);

/** Body of the request that makes a link. */
export const LinkBody = z.strictObject({
  subject: z
    .discriminatedUnion(
      'kind',
      [
        z.strictObject({ kind: z.literal('experiment'), experiment_id: Ulid }),
        z.strictObject({
          kind: z.literal('comparison'),
          experiment_ids: experimentIds.min(2, 'needs at least two experiments'),
        }),
        z.strictObject({ kind: z.literal('sweep'), sweep_id: Ulid }),
        z.strictObject({ kind: z.literal('view'), name: line(64) }),
        z.strictObject({ kind: z.literal('report'), report_id: Ulid }),
      ],
      {
        error: ({ code }) =>
          code === 'invalid_union' ? 'must be experiment, comparison, sweep, view or report' : undefined,
      },
    )
    .describe(
      'What it shows: an experiment, up to 50 experiments, a sweep, a saved view, or a report of the project.',
    ),
  hide: z
    .array(line(250))
    .max(100, 'has more than 100 names')
    .default([])
    .describe(
      'Names of params that it does not show, nor those below them, nor texts and metrics with their name.',
    ),
  anonymous: z
    .boolean()
    .default(false)
    .describe(
      'Whether it leaves out users, commit, note, tags and texts of the project, and each name, param, metric and file that looks like a path, an address or a commit, or has the name of a user, host or branch.',
    ),
  files: z.boolean().default(false).describe('Whether artifacts can be listed and downloaded.'),
  expires_in: integer(60, 365 * daySeconds)
    .default(30 * daySeconds)
    .describe('Seconds until it ends, at most 365 days.'),
});

export const LinkAnswer = z
  .object({
    link_id: Ulid,
    kind: z.enum(['experiment', 'comparison', 'sweep', 'view', 'report']),
    about: z
      .array(z.string())
      .describe('IDs of the experiments, of the sweep or of the report, or the name of the view.'),
    hide: z.array(z.string()),
    anonymous: z.boolean(),
    files: z.boolean(),
    created_at: Timestamp,
    expires_at: Timestamp,
  })
  .meta({ id: 'Link' });

export function showLink({ subject, ...link }: Link): z.input<typeof LinkAnswer> {
  const { link_id, hide, anonymous, files, created_at, expires_at } = link;
  const about =
    subject.kind === 'view'
      ? [subject.name]
      : subject.kind === 'sweep'
        ? [subject.sweep_id]
        : subject.kind === 'report'
          ? [subject.report_id]
          : subject.experiment_ids;
  return { link_id, kind: subject.kind, about, hide, anonymous, files, created_at, expires_at };
}

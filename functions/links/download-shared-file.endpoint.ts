import * as z from 'zod';
import { readProjectObjects } from '../../shared/aws/needs.ts';
import { Ulid } from '../../shared/core/formats.ts';
import { readUsers } from '../../shared/data/accounts/needs.ts';
import { findArtifact } from '../../shared/data/experiments/artifact.ts';
import { readRecords } from '../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { redirect } from '../../shared/http/definition/endpoint-output.ts';
import { Reply } from '../../shared/http/definition/reply.ts';
import { linkIsGone, requireLink, requireShared, sharedThrottle } from './shared-link.ts';
import { requireSharedPicture } from './shared-report.ts';

export const endpoint = defineEndpoint({
  name: 'downloadSharedFile',
  method: 'GET',
  path: '/links/shared/files/{path+}',
  summary: 'Download an artifact that a link shows',
  description:
    'Only of a link with `files`, and the pictures of a report. Redirects to a URL that is valid for 15 minutes. For `Authorization: Link <session>`.',
  allow: 'anyone',
  throttle: sharedThrottle,
  needs: { records: readRecords, accounts: readUsers, objects: readProjectObjects },
  input: {
    path: z.strictObject({ path: z.string().max(1000).describe('Path of the artifact.') }),
    query: z.strictObject({ experiment: Ulid.describe('ID of the experiment.') }),
  },
  work: 'heavy: a search of one project',
  isHeavy: () => true,
  output: { 302: redirect },
  problems: ['not-found'],

  async handle({ path: { path }, query: { experiment } }, context) {
    const { records, objects } = context;
    const shared = await requireLink(context);
    const isReport = shared.link.subject.kind === 'report';
    if (isReport) await requireSharedPicture(context, shared, experiment, path);
    else if (!shared.link.files) throw linkIsGone();
    const isShown = isReport || (await requireShared(context, shared, experiment)).told.shows(path);
    const artifact = isShown ? await findArtifact(records, experiment, path) : undefined;
    if (artifact === undefined) throw linkIsGone();
    const name = path.split('/').at(-1) ?? path;
    return Reply.redirect(await objects.presignDownload(artifact.object, name, artifact.media_type));
  },
});

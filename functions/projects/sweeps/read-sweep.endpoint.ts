import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { SweepAnswer } from '../../../shared/sweeps/trials/show-sweep.ts';
import { answerSweep, sweepPath } from './sweep.ts';

export const endpoint = defineEndpoint({
  name: 'readSweep',
  method: 'GET',
  path: '/projects/{project_id}/sweeps/{sweep_id}',
  summary: 'A sweep: its file, how far it is, and its best trial',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords },
  input: { path: sweepPath },
  output: { 200: SweepAnswer },
  etag: true,

  handle: ({ path }, { records }) => answerSweep(records, path),
});

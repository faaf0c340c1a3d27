import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { ImportAnswer, importedSha256, requireImport, showImport } from './import-answer.ts';

export const endpoint = defineEndpoint({
  name: 'readImport',
  method: 'GET',
  path: '/projects/import',
  summary: 'Progress of your import of an archive',
  allow: 'developer',
  needs: { records: readRecords },
  input: { query: importedSha256 },
  output: { 200: ImportAnswer },
  problems: ['not-found'],

  async handle({ query: { sha256 } }, { records, caller }) {
    return showImport(await requireImport(records, caller.user_id, sha256));
  },
});

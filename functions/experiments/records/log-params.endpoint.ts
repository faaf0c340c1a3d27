import * as z from 'zod';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { readUsers } from '../../../shared/data/accounts/needs.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { changeFields } from '../../../shared/experiments/change-fields.ts';
import { isFromCommand } from '../../../shared/experiments/command-facts.ts';
import { answerExperiment, ExperimentAnswer } from '../../../shared/experiments/experiment-answer.ts';
import { experimentPath } from '../../../shared/experiments/experiment-path.ts';
import { fieldsBodyMaxBytes, Params, requireRoom } from '../../../shared/experiments/field-rules.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { fieldsWith } from '../../../shared/http/definition/endpoint-input.ts';

/** Maximum number of names that an error message lists. */
const maxNamed = 10;

export const endpoint = defineEndpoint({
  name: 'logExperimentParams',
  method: 'POST',
  path: '/projects/{project_id}/experiments/{experiment_id}/params',
  summary: 'Log params of an experiment',
  description:
    'A param is written once. The same value again changes nothing; another value is refused with 409, and nothing of the request is stored. A param that only the command of a training states takes another value once.',
  allow: 'developer',
  project: 'developer',
  right: 'record',
  audit: { hourly: true },
  needs: { records: writeRecords, accounts: readUsers },
  input: {
    path: experimentPath,
    body: fieldsWith(z.strictObject({ params: Params }), fieldsBodyMaxBytes, 'params'),
  },
  repeatable: true,
  output: { 200: ExperimentAnswer },
  problems: ['conflict', 'too-large', 'unsupported-media-type'],
  etag: true,

  async handle({ path, body: { params } }, context) {
    const experiment = await changeFields(context, path, (present, found) => {
      const known = new Map(Object.entries(present.params));
      const given = Object.entries(params);
      const changed = given.filter(([name, value]) => {
        const before = known.get(name);
        return before !== undefined && before !== value && !isFromCommand(found, name, before);
      });
      if (changed.length > 0) {
        const names = changed.slice(0, maxNamed).map(([name]) => name);
        const rest = changed.length > maxNamed ? ` and ${changed.length - maxNamed} more` : '';
        const message = `A param cannot be changed, and these already have another value: ${names.join(', ')}${rest}.`;
        throw new ServiceError('conflict', message);
      }
      if (given.every(([name, value]) => known.get(name) === value)) return { fields: present };
      const together = Object.fromEntries([...known, ...given]);
      return { fields: requireRoom({ ...present, params: together }, 'params') };
    });
    return answerExperiment(context, experiment);
  },
});

import { readObjects } from '../../../shared/aws/needs.ts';
import { within } from '../../../shared/core/needs.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { originalVersion } from '../../../shared/data/models/serving.ts';
import { versionMemory } from '../../../shared/data/models/serving-memory.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { unservable } from '../../../shared/serving/protocol/signature.ts';
import { modelPath } from '../models/model-request.ts';
import { projectOf } from '../models/project-of.ts';
import { addedVersion, changeServing, requireKnown, withVersion } from './change-serving.ts';
import { describeVersion, isVersionName } from './describe-version.ts';
import { ServingDetails, showServing } from './serving-answer.ts';
import { requireFit, servingParameters } from './serving-request.ts';

export const endpoint = defineEndpoint({
  name: 'putServing',
  method: 'PUT',
  path: '/optimization/models/{model_name}/serving',
  summary: 'Serve a model',
  description:
    'The model answers at `/v2/models/{model_name}` by the Open Inference Protocol, from the next request on. The response says what requests cost; a model that nobody asks costs nothing. Parameters that are left out keep their value.',
  allow: 'developer',
  audit: { fields: ['version', 'access', 'requests_per_second', 'memory', 'max_batch', 'warm'] },
  needs: {
    records: writeRecords,
    objects: within(readObjects, { prefixes: ['models/', 'strategies/'] }),
  },
  input: { path: modelPath, query: servingParameters },
  output: { 200: ServingDetails },
  problems: ['conflict', 'not-found'],

  async handle({ path: { model_name }, query }, context) {
    const { records, now, settings } = context;
    const serving = await changeServing(model_name, context, async (model, present) => {
      const { version: asked = present?.default_version ?? originalVersion } = query;
      // The model itself can always be asked for.
      const names = [
        ...(present === undefined ? [originalVersion] : []),
        ...(isVersionName(asked) ? [asked] : []),
      ];
      const added = await Promise.all(
        [...new Set(names)].map((name) => describeVersion(model, name, context)),
      );
      context.noteAudit({ before: present });
      const memory = query.memory ?? present?.memory ?? null;
      for (const version of added) {
        const faults = unservable(version);
        if (faults.length > 0)
          throw new ServiceError(
            'conflict',
            `The version ${version.name} cannot be served: ${faults.join('; ')}.`,
          );
      }
      // A model that is too large may still serve its smaller result.
      const wanted = added.filter((one) => one.name === asked);
      for (const version of wanted.length > 0 ? wanted : [])
        requireFit({ ...version, needs: versionMemory(version) }, memory, settings);
      const fitting = added.filter(
        (one) =>
          one.name === asked ||
          fits(() => requireFit({ ...one, needs: versionMemory(one) }, memory, settings)),
      );
      const versions = fitting.reduce(withVersion, present?.versions ?? {});
      const aliases = present?.aliases ?? {};
      for (const [name, state] of Object.entries(versions)) {
        if (query.memory !== undefined) requireFit({ ...state, name }, memory, settings);
      }
      requireKnown({ versions, aliases }, asked);
      return {
        next: {
          model_name,
          model_id: model.model_id,
          owner_id: model.owner_id,
          project_id: present?.project_id ?? (await projectOf(records, model)),
          access: query.access ?? present?.access ?? 'viewer',
          requests_per_second: query.requests_per_second ?? present?.requests_per_second ?? 5,
          memory,
          max_batch: query.max_batch ?? present?.max_batch ?? 256,
          warm: query.warm ?? present?.warm ?? false,
          default_version: asked,
          versions,
          aliases,
          created_at: present?.created_at ?? now().toISOString(),
        },
        also: fitting.flatMap(addedVersion),
      };
    });
    return showServing(serving, context);
  },
});

function fits(check: () => void): boolean {
  try {
    check();
    return true;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}

import * as z from 'zod';
import { readObjects } from '../../../shared/aws/needs.ts';
import { FileId } from '../../../shared/core/formats.ts';
import { within } from '../../../shared/core/needs.ts';
import { badRequest, ServiceError } from '../../../shared/core/service-error.ts';
import { maxAliases } from '../../../shared/data/models/serving.ts';
import { versionMemory } from '../../../shared/data/models/serving-memory.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { unservable } from '../../../shared/serving/protocol/signature.ts';
import { addedVersion, changeServing, requireKnown, requirePresent, withVersion } from './change-serving.ts';
import { describeVersion, isVersionName } from './describe-version.ts';
import { ServingDetails, showServing } from './serving-answer.ts';
import { requireFit, versionPath } from './serving-request.ts';

export const endpoint = defineEndpoint({
  name: 'putServingVersion',
  method: 'PUT',
  path: '/optimization/models/{model_name}/serving/versions/{version}',
  summary: 'Serve a version of a model, or point an alias at one',
  description:
    'With the id of a strategy, its result answers as this version; one that was taken out answers again. With another name and `target`, the name is an alias. An alias is one write and counts from the next request.',
  allow: 'developer',
  audit: { fields: ['target'] },
  needs: {
    records: writeRecords,
    objects: within(readObjects, { prefixes: ['models/', 'strategies/'] }),
  },
  input: {
    path: versionPath,
    query: z.strictObject({
      target: FileId.optional().describe(
        'For an alias: the version that it names, `original` or the id of a strategy. It is added if it is not in service.',
      ),
    }),
  },
  output: { 200: ServingDetails },
  problems: ['conflict', 'not-found'],

  async handle({ path: { model_name, version: name }, query: { target } }, context) {
    const isVersion = isVersionName(name);
    if (isVersion === (target !== undefined)) {
      const message = isVersion
        ? `is only for aliases, and ${name} is a version`
        : `is required for the alias ${name}: the version that it names`;
      throw badRequest([{ in: 'query', name: 'target', message }]);
    }
    const serving = await changeServing(model_name, context, async (model, found) => {
      const present = requirePresent(model_name, found);
      const wanted = target ?? name;
      const isNew = isVersion || (isVersionName(wanted) && present.versions[wanted] === undefined);
      const added = isNew ? [await describeVersion(model, wanted, context)] : [];
      for (const version of added) {
        const faults = unservable(version);
        if (faults.length > 0)
          throw new ServiceError('conflict', `The version ${wanted} cannot be served: ${faults.join('; ')}.`);
        requireFit({ ...version, needs: versionMemory(version) }, present.memory, context.settings);
      }
      const versions = added.reduce(withVersion, present.versions);
      const aliases = isVersion
        ? present.aliases
        : { ...present.aliases, [name]: requireKnown({ ...present, versions }, wanted) };
      if (Object.keys(aliases).length > maxAliases) {
        const detail = `A model has at most ${maxAliases} aliases. Remove one with DELETE …/serving/versions/{alias}.`;
        throw new ServiceError('conflict', detail);
      }
      return { next: { ...present, versions, aliases }, also: added.flatMap(addedVersion) };
    });
    return showServing(serving, context);
  },
});

import { notFound, ServiceError } from '../../../shared/core/service-error.ts';
import { removeServedVersion } from '../../../shared/data/models/serving.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { changeServing, requirePresent } from './change-serving.ts';
import { ServingDetails, showServing } from './serving-answer.ts';
import { versionPath } from './serving-request.ts';

export const endpoint = defineEndpoint({
  name: 'deleteServingVersion',
  method: 'DELETE',
  path: '/optimization/models/{model_name}/serving/versions/{version}',
  summary: 'Take a version or an alias out of service',
  description: 'A version that an alias or the default names stays until they name another one.',
  allow: 'developer',
  needs: { records: writeRecords },
  input: { path: versionPath },
  output: { 200: ServingDetails },
  problems: ['conflict', 'not-found'],

  async handle({ path: { model_name, version: name } }, context) {
    const serving = await changeServing(model_name, context, async (_, found) => {
      const present = requirePresent(model_name, found);
      const { [name]: alias, ...aliases } = present.aliases;
      const { [name]: state, ...versions } = present.versions;
      if (alias === undefined && state === undefined) throw notFound(`version of ${model_name}`, name);
      const naming = Object.entries(aliases).flatMap(([one, version]) => (version === name ? [one] : []));
      const users = [...(present.default_version === name ? ['the default'] : []), ...naming];
      if (users.length > 0)
        throw new ServiceError(
          'conflict',
          `${name} is in use by ${users.join(', ')}. Point these at another version first.`,
        );
      if (alias !== undefined) return { next: { ...present, aliases } };
      return { next: { ...present, versions }, also: [removeServedVersion(present.model_id, name)] };
    });
    return showServing(serving, context);
  },
});

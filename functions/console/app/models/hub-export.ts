import type { RequestOf } from '../../../../shared/client/route.ts';
import { hubAddress } from '../../../../shared/exports/hub-address.ts';
import type { endpoint as createExport } from '../../../optimization/exports/create-export.endpoint.ts';
import { shareOf } from './method.ts';

type Body = RequestOf<typeof createExport>['body'];

/** Fields of the form, as they are written. */
export interface HubExport {
  project_id: string;
  /** `OWNER/NAME` or `OWNER/NAME@REVISION`, or the address of the model's page. */
  id: string;
  /** Name of the registered model. Empty if it is that of the model of the Hub. */
  name: string;
  /** Empty if the files of the model say it. */
  task: NonNullable<Body['task']> | '';
  /** Percent. */
  loss: string;
  /** Processor or machine; `any` is none in particular. */
  target: string;
}

/** Return what the service takes, and the command that does the same. Undefined while the id or the loss is no such thing. */
export function hubExport({
  project_id,
  id,
  name,
  task,
  loss,
  target,
}: HubExport): { body: Body; command: string } | undefined {
  const model = hubAddress(id);
  const max_loss = shareOf(loss);
  if (model === undefined || max_loss === undefined) return undefined;
  const { hf, revision } = model;
  const chosen = name.trim();
  const address = revision === undefined ? hf : `${hf}@${revision}`;
  const flags = [
    `--max-loss ${max_loss}`,
    ...(target === 'any' ? [] : [`--for ${target}`]),
    ...(task === '' ? [] : [`--task ${task}`]),
    ...(chosen === '' ? [] : [`--name ${chosen}`]),
    ...(project_id === '' ? [] : [`-p ${project_id}`]),
  ];
  return {
    body: {
      project_id,
      source: { hf, ...(revision !== undefined && { revision }) },
      max_loss,
      ...(target !== 'any' && { for: target }),
      ...(task !== '' && { task }),
      ...(chosen !== '' && { name: chosen }),
    },
    command: `mps compress hf://${address} ${flags.join(' ')}`,
  };
}

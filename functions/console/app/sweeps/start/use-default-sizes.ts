import { useEffect, useState } from 'preact/hooks';
import { type Estimate, estimate } from '../../api/files.ts';
import type { SweepDraft } from './sweep-draft.ts';

/** Sizes that a blank field has. */
export type DefaultSizes = Pick<Estimate, 'vcpus' | 'memory' | 'gpus' | 'timeout'>;

/** Return what the blank fields of a training's size mean; undefined until it is known. */
export function useDefaultSizes(
  project_id: string,
  { vcpus, gpus }: Pick<SweepDraft, 'vcpus' | 'gpus'>,
): DefaultSizes | undefined {
  const [sizes, setSizes] = useState<DefaultSizes>();
  useEffect(() => {
    let isOld = false;
    // The memory of a machine depends on its processors. Others are checked with the whole form.
    const given = Object.fromEntries(
      Object.entries({ vcpus, gpus }).filter(([, text]) => /^\d+$/.test(text)),
    );
    estimate(project_id, given as Parameters<typeof estimate>[1]).then(
      (found) => {
        if (!isOld) setSizes(found);
      },
      // The form tells what is wrong. Without an answer the fields stay blank.
      () => undefined,
    );
    return () => {
      isOld = true;
    };
  }, [project_id, vcpus, gpus]);
  return sizes;
}

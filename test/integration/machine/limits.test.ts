import { expect, test } from 'vitest';
import { proof as damage } from '../../proofs/faults/damage.proof.ts';
import { proof as descriptors } from '../../proofs/faults/descriptors.proof.ts';
import { proof as diskFull } from '../../proofs/faults/disk-full.proof.ts';
import { everySample } from '../../support/samples.ts';
import { shortForm } from '../../support/short-form.ts';

// At once, because they wait for most of their time, each in processes of its own.
test.runIf(everySample && process.platform === 'linux').concurrent.each([damage, diskFull, descriptors])(
  '$title loses nothing that was acknowledged, and is told clearly',
  async (proof) => {
    const { missed, output } = await shortForm(proof);
    expect(missed, output).toEqual([]);
  },
);

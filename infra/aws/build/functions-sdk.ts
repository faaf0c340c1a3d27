import type { ImportKind, Plugin } from 'esbuild';

/** An import within the AWS SDK, and the module that it finds in a function of the cloud. */
interface Replacement {
  module: RegExp;
  kind: ImportKind;
  contents: string;
}

const replacements: readonly Replacement[] = [
  {
    // Lambda puts the role's credentials into the environment. The SDK's own chain would also ask files, processes and
    // servers for them, and so brings the clients of four more services.
    module: /^@aws-sdk\/credential-provider-node$/,
    kind: 'import-statement',
    contents: `export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';`,
  },
  {
    // Loaded by operations that stream events alone, and no port of shared/aws has such an operation.
    module: /^@smithy\/core\/event-streams$/,
    kind: 'dynamic-import',
    contents: `throw new Error('no operation here streams events');`,
  },
];

/** Leaves out of the AWS SDK what no function in the cloud can use, all of which it would parse at each cold start. */
export const functionsSdk: Plugin = {
  name: 'functions-sdk',
  setup({ onResolve, onLoad }) {
    for (const [index, { module, kind, contents }] of replacements.entries()) {
      const namespace = `functions-sdk-${index}`;
      onResolve({ filter: module }, ({ path, resolveDir, ...from }) =>
        from.kind === kind ? { path, namespace, pluginData: resolveDir } : undefined,
      );
      onLoad({ filter: /.*/, namespace }, ({ pluginData }) => ({ contents, resolveDir: String(pluginData) }));
    }
  },
};

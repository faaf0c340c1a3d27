import http from 'node:http';
import type { ImportKind, Plugin } from 'esbuild';

/** Members of `node:http` that node makes when they are first touched, by loading its whole fetch implementation. */
const costly = new Set(['WebSocket', 'CloseEvent', 'MessageEvent']);

/** Kinds of imports: the SDK's clients import it when they make their first request. */
const kinds = new Set<ImportKind>(['import-statement', 'dynamic-import']);

/**
 * To import `node:http` touches every member of it, which takes 12 MB and 11 ms in every process; to ask for the
 * module itself does not.
 */
export const leanHttp: Plugin = {
  name: 'lean-http',
  setup(build) {
    build.onResolve({ filter: /^(node:)?http$/ }, ({ kind }) =>
      kinds.has(kind) ? { path: 'http', namespace: 'lean-http' } : undefined,
    );
    build.onLoad({ filter: /^http$/, namespace: 'lean-http' }, () => {
      const names = Object.keys(http).filter((name) => !costly.has(name));
      return {
        contents: `const http = process.getBuiltinModule('node:http');\nexport default http;\nexport const { ${names.join(', ')} } = http;\n`,
        loader: 'js',
      };
    });
  },
};

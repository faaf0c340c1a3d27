import { hashingRuntime } from '../../shared/accounts/hashing-queue.ts';
import { requireScope } from '../../shared/data/accounts/token-scope.ts';
import { withoutAudit } from '../../shared/data/table/audited-writer.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { content } from '../../shared/http/definition/endpoint-output.ts';
import { largeBodies } from '../../shared/mlflow/artifacts/large-body.ts';
import { artifactRoutes } from '../../shared/mlflow/artifacts/routes.ts';
import { modelRoutes } from '../../shared/mlflow/logged-models/routes.ts';
import { experimentRoutes } from '../../shared/mlflow/projects/routes.ts';
import { errorBody } from '../../shared/mlflow/protocol/mlflow-error.ts';
import { createRouter } from '../../shared/mlflow/protocol/route.ts';
import { serverRoutes } from '../../shared/mlflow/protocol/server-routes.ts';
import { registeredRoutes } from '../../shared/mlflow/registry/model-routes.ts';
import { versionRoutes } from '../../shared/mlflow/registry/version-routes.ts';
import { runRoutes } from '../../shared/mlflow/runs/routes.ts';
import { identifyBasic } from './basic-credentials.ts';
import { mlflowNeeds } from './mlflow-needs.ts';

const route = createRouter([
  ...serverRoutes(true),
  ...experimentRoutes,
  ...runRoutes,
  ...artifactRoutes,
  ...modelRoutes,
  ...registeredRoutes,
  ...versionRoutes,
]);

/** Metric histories and searches read every record in their scope. */
const heavyPath = /\/(?:search|search-datasets|get-history(?:-bulk(?:-interval)?)?)\/?$/;

/**
 * Trackers log to a run again and again. What begins, ends or removes something, also a tag, has an audit record of its
 * own each time.
 */
const eachTime = /\/(?:create|update|delete-tag|logged-models|logged-models\/\{model_id\})$/;

/** Largest body in bytes: Lambda limits the event, which contains the body in base64. */
const bodyMaxBytes = 4_400_000;

/**
 * The REST API of MLflow's tracking server, for unmodified clients (`MLFLOW_TRACKING_URI=<base URL>/mlflow`). One
 * function serves all of it: a client makes a burst of different calls, and they share a warm instance.
 */
export const endpoint = defineEndpoint({
  name: 'serveMlflow',
  method: 'ANY',
  path: '/mlflow/{mlflow_path+}',
  summary: "The API of MLflow's tracking server",
  allow: 'viewer',
  right: 'read',
  keepsToProjects: true,
  needs: mlflowNeeds,
  runtime: hashingRuntime,
  input: { request: { maxBytes: bodyMaxBytes, largeBodies } },
  work: 'heavy: searches and histories, each a page of 4 MB; the others a page or single records',
  output: { 200: content(['application/json', 'text/plain', 'application/octet-stream']) },
  errorBody,
  identify: identifyBasic,
  isHeavy: ({ request: { path } }) => heavyPath.test(path),

  async handle({ request }, context) {
    const { route: found, variables } = route(request);
    requireScope(context.caller, found);
    // A search keeps its catalogue in order, which nobody asked for.
    if (found.right === 'read')
      return found.handle(request, variables, { ...context, records: withoutAudit(context.records) });
    context.noteAudit({
      operation: `mlflow ${found.method} ${found.path.replace(/^mlflow\//, '')}`,
      isHourly: found.right === 'record' && found.method !== 'DELETE' && !eachTime.test(found.path),
    });
    return found.handle(request, variables, context);
  },
});

import { join } from 'node:path';
import { inject } from 'vitest';
import { type OptimizationService, optimizationService } from '../../support/optimization.ts';
import { type TrainingService, trainingService, usualDefinition } from '../../support/training.ts';

const command = [process.execPath, join(import.meta.dirname, 'run-in-container.ts')];

const running = (job: string) => ({
  ...usualDefinition,
  // The image has no checkout to show.
  environment: {},
  command: [...command, `functions/jobs/${job}.job.js`],
});

/** The definitions of a deployment, by which jobs run in containers of the job image. */
const jobDefinitions = [
  { ...running('train'), name: 'train', type: 'container' as const },
  { ...running('train'), name: 'gpu', type: 'container' as const },
  { ...running('train'), name: 'cluster', type: 'multinode' as const, numNodes: 2 },
  { ...running('prune'), name: 'prune', type: 'container' as const },
  { ...running('quantize'), name: 'quantize', type: 'container' as const },
];

/** What the wrapper and the container get: they have their credentials from their role alone. */
function containerVariables(): Record<string, string> {
  const { DOCKER_HOST } = process.env;
  return {
    ...(DOCKER_HOST !== undefined && { DOCKER_HOST }),
    AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: inject('credentialsPath'),
    // Authorities of the image, for installers that bring their own list.
    SSL_CERT_FILE: '/etc/ssl/certs/ca-certificates.crt',
  };
}

/** A service whose trainings run in containers of the job image. */
export function containerTraining(): Promise<TrainingService> {
  return trainingService({ jobDefinitions }, containerVariables());
}

/** A service whose prunings and quantizations do. */
export function containerOptimization(): Promise<OptimizationService> {
  return optimizationService(containerVariables(), { jobDefinitions });
}

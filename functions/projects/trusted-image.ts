import { badRequest } from '../../shared/core/service-error.ts';
import type { Settings } from '../../shared/core/settings.ts';
import type { EnvironmentType } from '../../shared/data/environment.ts';

/** Throws a 400 for an environment in an image that this deployment does not trust with its supervisor. */
export function requireTrustedImage(
  { env_type, dependencies }: { env_type: EnvironmentType; dependencies: string },
  { trustedImages }: Pick<Settings, 'trustedImages'>,
): void {
  if (env_type !== 'docker' || trustedImages === undefined) return;
  if (Object.hasOwn(trustedImages, dependencies.trim())) return;
  const names = Object.keys(trustedImages).join(', ');
  const message =
    names === '' ? 'no image is trusted by this deployment' : `must be one of the trusted images: ${names}`;
  throw badRequest([{ in: 'query', name: 'dependencies', message }]);
}

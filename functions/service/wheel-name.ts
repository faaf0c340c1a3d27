import packageFile from '../../package.json' with { type: 'json' };

/** Version of the service as PEP 440 writes it: `0.2.0-rc.1` is `0.2.0rc1`. */
export const wheelVersion = packageFile.version.replace(/-(a|b|rc)[a-z]*\.?(\d+)$/, '$1$2');

/** File name of the Python package. pip takes name and version from it, so no shorter name is possible. */
export const wheelName = `model_project_service-${wheelVersion}-py3-none-any.whl`;

/**
 * Return the command that installs the Python package from a service. It names the package and its address, never a
 * package index: another person could own the name there.
 *
 * @param url address of the service without a slash at its end, or a variable that holds it
 */
export const installWheel = (url: string): string =>
  `pip install "model-project-service @ ${url}/cli/${wheelName}"`;

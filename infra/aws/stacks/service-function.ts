import { Duration, Size } from 'aws-cdk-lib';
import type { IRole } from 'aws-cdk-lib/aws-iam';
import {
  ApplicationLogLevel,
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  SystemLogLevel,
} from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { FunctionRuntime } from '../../../shared/core/function-runtime.ts';
import type { DeploymentOptions } from '../options/deployment-options.ts';
import { usualMemory, usualTimeout } from '../options/function-size.ts';
import type { Resources } from './roles.ts';

/** A Lambda function of the service. */
export class ServiceFunction extends Construct {
  readonly lambda: LambdaFunction;

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    super(scope, id);
    const { functionName, description, folder, runtime = {}, environment, logLevel, log, role } = props;
    const { isRecurring = false } = props;
    this.lambda = new LambdaFunction(this, 'Function', {
      ...(functionName !== undefined && { functionName }),
      description,
      runtime: Runtime.NODEJS_24_X,
      architecture: runtime.processor === 'x86_64' ? Architecture.X86_64 : Architecture.ARM_64,
      handler: 'index.handler',
      code: Code.fromAsset(folder),
      memorySize: runtime.memory ?? usualMemory,
      ...(runtime.disk !== undefined && { ephemeralStorageSize: Size.mebibytes(runtime.disk) }),
      ...(runtime.concurrency !== undefined && { reservedConcurrentExecutions: runtime.concurrency }),
      timeout: Duration.seconds(runtime.timeout ?? usualTimeout),
      environment: { ...environment },
      logGroup: log,
      loggingFormat: LoggingFormat.JSON,
      ...logLevels(logLevel),
      role,
      // Lambda stops recursive loops that it considers mistakes.
      ...(isRecurring && { recursiveLoop: RecursiveLoop.ALLOW }),
    });
  }
}

export interface ServiceFunctionProps {
  /** Default: CloudFormation generates a name. */
  functionName?: string;
  description: string;
  /** Folder of the bundle. */
  folder: string;
  runtime?: FunctionRuntime;
  environment: Readonly<Record<string, string>>;
  logLevel: DeploymentOptions['logLevel'];
  log: ILogGroup;
  role: IRole;
  /** Whether the function starts itself again by its writes. */
  isRecurring?: boolean;
}

/**
 * Levels of the lines that a function writes, and of those that Lambda writes of it. The logger of the service has left out what
 * is below its level; lines of others have the level INFO. Of calls that succeeded Lambda writes on the level `debug` alone: its
 * lines would be most of the log.
 */
const logLevels = (level: DeploymentOptions['logLevel']) =>
  level === 'debug'
    ? { applicationLogLevelV2: ApplicationLogLevel.DEBUG, systemLogLevelV2: SystemLogLevel.INFO }
    : { applicationLogLevelV2: ApplicationLogLevel.INFO, systemLogLevelV2: SystemLogLevel.WARN };

/** Parts of the functions of all stacks. */
export interface FunctionParts {
  resources: Resources;
  environment: Readonly<Record<string, string>>;
  /** Return the folder of a function's bundle. @throws if there is none */
  folderOf(name: string): string;
}

import type { OpenAPIV2 } from 'openapi-types';
import type { ClientResponse } from '../../../__testUtils__/gateway/GatewayClient';
import type { Site } from '../../../__testUtils__/gateway/withGateway';

type Result = Record<string, unknown>;

/** A bravado model: missing properties are null. */
class Model {
  constructor(values: Result) {
    Object.assign(this, values);
  }
}

/**
 * A client that behaves like bravado, the library of `fasjson-client`: it
 * accepts only parameters of the documented type, and returns bodies as the
 * schema of the response describes them.
 */
export class BravadoClient {
  readonly #document: OpenAPIV2.Document;
  readonly #site: Site;
  readonly #principal: string;

  constructor(options: {
    readonly document: OpenAPIV2.Document;
    readonly site: Site;
    readonly principal: string;
  }) {
    this.#document = options.document;
    this.#site = options.site;
    this.#principal = options.principal;
  }

  operationIds(): string[] {
    return this.#operations().map(({ operation }) => operation.operationId!);
  }

  /**
   * Performs an operation.
   *
   * @throws Error when a parameter is unknown, missing or of another type, and
   *   when the response is not documented or is an error.
   */
  async call(operationId: string, values: Result = {}): Promise<Result> {
    const { method, path, parameters, operation } = this.#operations().find(
      candidate => candidate.operation.operationId === operationId,
    )!;
    const unknown = Object.keys(values).filter(
      name => !parameters.some(parameter => parameter.name === name),
    );
    if (unknown.length > 0) {
      throw new Error(`${operationId} has no parameter ${unknown}`);
    }
    const query = new URLSearchParams();
    const headers: Record<string, string> = {};
    let url = `${this.#document.basePath}${path}`;
    for (const parameter of parameters) {
      for (const value of marshal(parameter, values[parameter.name])) {
        if (parameter.in === 'path') {
          url = url.replace(`{${parameter.name}}`, encodeURIComponent(value));
        } else if (parameter.in === 'query') {
          query.append(parameter.name, value);
        } else {
          headers[parameter.name] = value;
        }
      }
    }
    const response = await this.#site.client.request(
      `${url.replace('/api/directory', '')}?${query}`,
      { as: this.#principal, method: method.toUpperCase(), headers },
    );
    return this.#unmarshalResponse(operation, response);
  }

  #operations() {
    return Object.entries(this.#document.paths).flatMap(([path, item]) =>
      (['get', 'post'] as const).flatMap(method => {
        const operation = item[method];
        const parameters = [
          ...(item.parameters ?? []),
          ...(operation?.parameters ?? []),
        ] as OpenAPIV2.GeneralParameterObject[];
        return operation ? [{ method, path, parameters, operation }] : [];
      }),
    );
  }

  #unmarshalResponse(
    { operationId, responses }: OpenAPIV2.OperationObject,
    { status, json }: ClientResponse,
  ): Result {
    const documented = responses[status] as OpenAPIV2.ResponseObject;
    if (!documented?.schema) {
      throw new Error(`${operationId}: ${status} ${JSON.stringify(json)}`);
    }
    return this.#unmarshal(documented.schema, json) as Result;
  }

  /** Converts a value as its schema describes; unchanged without a type. */
  #unmarshal(schema: OpenAPIV2.Schema, value: unknown): unknown {
    if ('$ref' in schema) {
      const name = schema.$ref!.split('/').at(-1)!;
      const definition = this.#document.definitions![name];
      return new Model(this.#unmarshal(definition, value) as Result);
    }
    const {
      type,
      format,
      items,
      properties = {},
    } = schema as OpenAPIV2.SchemaObject;
    if (type === 'array') {
      return (value as unknown[]).map(item => this.#unmarshal(items!, item));
    }
    if (type === 'object') {
      const known = Object.entries(properties).map(([key, property]) => {
        const member = (value as Result)[key] ?? null;
        return [key, member && this.#unmarshal(property, member)];
      });
      return { ...(value as Result), ...Object.fromEntries(known) };
    }
    return format === 'date-time' && type ? new Date(String(value)) : value;
  }
}

/** The values of a parameter in a request; none when it is omitted. */
function marshal(
  parameter: OpenAPIV2.GeneralParameterObject,
  given: unknown,
): string[] {
  const { name, type, format, required } = parameter;
  const value = given ?? parameter.default;
  if (value === undefined) {
    if (required) {
      throw new Error(`${name} is required`);
    }
    return [];
  }
  if (type === 'array') {
    const texts = (value as unknown[]).flatMap(item =>
      marshal({ ...parameter, ...parameter.items, name }, item),
    );
    return parameter.collectionFormat === 'multi' ? texts : [texts.join()];
  }
  const wire = toWire(format, value);
  const isInteger = typeof wire === 'bigint' || Number.isInteger(wire);
  const wireType = isInteger ? 'integer' : typeof wire;
  if (wireType !== type) {
    throw new Error(`${name} is not of type ${type}: ${value}`);
  }
  return [String(wire)];
}

function toWire(format: string | undefined, value: unknown): unknown {
  if (format === 'date-time') {
    return (value as Date).toISOString().replace('Z', '+00:00');
  }
  return format === 'mask' && Array.isArray(value) ? value.join() : value;
}

/**
 * Puts the native libraries of fastembed in place, in the executable; a checkout finds them in
 * node_modules. Call it before fastembed is imported for the first time.
 */
export async function prepareInference(_cacheDir: string): Promise<void> {}

// Creates a passkey or signs in with one, and sends the result with the form. Browsers offer passkeys only to scripts.

function toBytes(base64url) {
  const binary = atob(base64url.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

function toText(buffer) {
  const binary = String.fromCharCode(...new Uint8Array(buffer));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

const withBytes = (credentials) =>
  (credentials ?? []).map((each) => ({ ...each, id: toBytes(each.id) }));

/** The common fields of a credential, in the JSON form that the server reads. */
function describe(credential, response) {
  const { id, rawId, type } = credential;
  return JSON.stringify({ id, rawId: toText(rawId), type, clientExtensionResults: {}, response });
}

async function create(options) {
  const credential = await navigator.credentials.create({
    publicKey: {
      ...options,
      challenge: toBytes(options.challenge),
      user: { ...options.user, id: toBytes(options.user.id) },
      excludeCredentials: withBytes(options.excludeCredentials),
    },
  });
  const { clientDataJSON, attestationObject } = credential.response;
  return describe(credential, {
    clientDataJSON: toText(clientDataJSON),
    attestationObject: toText(attestationObject),
    transports: credential.response.getTransports?.() ?? [],
  });
}

async function get(options) {
  const credential = await navigator.credentials.get({
    publicKey: {
      ...options,
      challenge: toBytes(options.challenge),
      allowCredentials: withBytes(options.allowCredentials),
    },
  });
  const { clientDataJSON, authenticatorData, signature, userHandle } = credential.response;
  return describe(credential, {
    clientDataJSON: toText(clientDataJSON),
    authenticatorData: toText(authenticatorData),
    signature: toText(signature),
    ...(userHandle && { userHandle: toText(userHandle) }),
  });
}

/** Fetches the options with the challenge to sign. */
async function fetchOptions(form) {
  const { form_token } = form.elements;
  const response = await fetch(form.dataset.options, {
    method: "POST",
    body: new URLSearchParams({ form_token: form_token.value }),
  });
  if (response.ok) return response.json();
  throw new Error("This page has expired. Reload it and try again.");
}

function explain(error) {
  switch (error.name) {
    case "NotAllowedError":
      return "No passkey was used. The request was cancelled, took too long, or this device has no passkey for this server.";
    case "InvalidStateError":
      return "This device already has a passkey for your account.";
    default:
      return error.message;
  }
}

async function send(form) {
  const problem = form.querySelector("[data-problem]");
  problem.hidden = true;
  try {
    const options = await fetchOptions(form);
    const credential = await (form.dataset.passkey === "create" ? create(options) : get(options));
    form.querySelector("[data-credential]").value = credential;
    form.submit();
  } catch (error) {
    problem.textContent = explain(error);
    problem.hidden = false;
  }
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  const isSupported = "credentials" in navigator && "PublicKeyCredential" in window;
  form.querySelector("[data-unknown]").hidden = isSupported;
  form.querySelector("button").hidden = !isSupported;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (isSupported) send(form);
  });
}

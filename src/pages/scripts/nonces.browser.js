// Gives every style that a script makes the nonce of the page. Of Scalar's, some have none.
const { content: nonce } = document.querySelector("meta[property=csp-nonce]");
const create = document.createElement;
document.createElement = (name, options) => {
  const element = create.call(document, name, options);
  if (name === "style") element.nonce = nonce;
  return element;
};
